import { ReaderWatch } from '@/lib/streams/reader-watch'
import { ownTurn } from '@/lib/wait/own-turn'

const WHOLE_BYTES = 512 * 1024
const SLICE_BYTES = 64 * 1024

const encoder = new TextEncoder()

/**
 * Makes a response body from `pieces`. A short body is made at once, a longer one as fast as the client reads, so that millions of numbers
 * don't block the event loop. `onEnd` is called once the pieces are no longer needed: all were read, the client disconnected, or the client
 * has read nothing for `unreadMs` (a minute).
 */
export function responseBody(
  pieces: Iterable<string | Uint8Array>,
  signal: AbortSignal,
  onEnd: () => void,
  unreadMs?: number,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  const rest = pieces[Symbol.iterator]()
  const first = take(rest, WHOLE_BYTES)
  if (!first.isLast) return new ReadableStream(new SlicedBody(first.bytes, rest, { signal, onEnd, unreadMs }))
  onEnd()
  return first.bytes
}

type Reader = { signal: AbortSignal; onEnd: () => void; unreadMs: number | undefined }

class SlicedBody implements UnderlyingDefaultSource<Uint8Array> {
  private reading: ReaderWatch | undefined

  constructor(
    private head: Uint8Array | undefined,
    private readonly rest: Iterator<string | Uint8Array>,
    private readonly reader: Reader,
  ) {}

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal, unreadMs } = this.reader
    this.reading = new ReaderWatch(() => {
      this.end()
      controller.error(new Error('the client takes nothing'))
    }, unreadMs)
    if (signal.aborted) this.end()
    else signal.addEventListener('abort', this)
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const head = this.head
    this.head = undefined
    this.reading?.asked()
    if (!head) await ownTurn()
    const { bytes, isLast } = head ? { bytes: head, isLast: false } : take(this.rest, SLICE_BYTES)
    if (bytes.length > 0) controller.enqueue(bytes)
    this.reading?.given()
    if (!isLast) return
    this.end()
    controller.close()
  }

  cancel(): void {
    this.end()
  }

  /** The client disconnected. */
  handleEvent(): void {
    this.end()
  }

  private end(): void {
    this.reading?.stop()
    this.reader.signal.removeEventListener('abort', this)
    this.reader.onEnd()
  }
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
