/** A body out of pieces: in one go where it is short, else written as fast as it is read, so that nobody waits for millions of numbers. */

import { ownTurn } from '@/lib/wait/own-turn'

/** A body up to this length is one text. */
const WHOLE_BYTES = 512 * 1024
/** What is made at once of a longer one. */
const SLICE_BYTES = 64 * 1024

const encoder = new TextEncoder()

/** The body. */
export function responseBody(
  pieces: Iterable<string | Uint8Array>,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  const rest = pieces[Symbol.iterator]()
  const first = take(rest, WHOLE_BYTES)
  if (first.isLast) return first.bytes
  let head: Uint8Array | undefined = first.bytes
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (head) {
        controller.enqueue(head)
        head = undefined
        return
      }
      await ownTurn()
      const { bytes, isLast } = take(rest, SLICE_BYTES)
      if (bytes.length > 0) controller.enqueue(bytes)
      if (isLast) controller.close()
    },
  })
}

function take(
  pieces: Iterator<string | Uint8Array>,
  atLeast: number,
): { bytes: Uint8Array<ArrayBuffer>; isLast: boolean } {
  const taken: Uint8Array[] = []
  for (let size = 0; size < atLeast; ) {
    const { done, value } = pieces.next()
    if (done) return { bytes: Buffer.concat(taken), isLast: true }
    const bytes = typeof value === 'string' ? encoder.encode(value) : value
    taken.push(bytes)
    size += bytes.length
  }
  return { bytes: Buffer.concat(taken), isLast: false }
}
