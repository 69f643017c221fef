/** What the mock upstream does wrong where its model asks for it: failures, resets, silence, streams that break off, floods. */
import type { WireFormat } from '@bench/load/job'
import { ANSWERS, chunkOf } from './answers'

/** The connection of a request, as far as a fault has to do with it. */
type Line = {
  write(bytes: Buffer): void
  /** Calls `more` whenever the reader has taken what was written, until it returns undefined. */
  fill(more: () => Buffer | undefined): void
  /** Ends the connection at once. */
  reset(): void
  /** Sends pieces of an ordinary stream, then calls `onEnd` instead of ending it. */
  stream(pieces: number, intervalMs: number, onEnd: () => void): void
}

const COMMENT_BYTES = 16_000

/** Plays the fault that `model` names; false where it names none. */
export function playFault(model: string, format: WireFormat, line: Line): boolean {
  const [kind, first = '0', second = '0'] = model.split('-')
  switch (kind) {
    case 'status':
      line.write(failure(Number(first)))
      return true
    case 'reset':
      line.reset()
      return true
    case 'silent':
      return true
    case 'broken':
      line.stream(Number(first), Number(second), line.reset)
      return true
    case 'flood':
      flood(line, format, Number(first))
      return true
    default:
      return false
  }
}

/** An error of a status, in words that all formats understand. */
function failure(status: number): Buffer {
  const text = JSON.stringify({ error: { type: 'api_error', message: 'as asked', code: status } })
  return Buffer.from(
    `HTTP/1.1 ${status} Asked\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
}

/** A stream of one piece and so many kilobytes of comments, which no meter counts, as fast as it is read. */
function flood(line: Line, format: WireFormat, kilobytes: number): void {
  const { opening, piece, closing } = ANSWERS[format].stream
  let left = Math.ceil((kilobytes * 1000) / COMMENT.length)
  line.write(Buffer.concat([opening, piece]))
  line.fill(() => {
    left -= 1
    if (left >= 0) return COMMENT
    return left === -1 ? closing : undefined
  })
}

const COMMENT = chunkOf(`: ${'x'.repeat(COMMENT_BYTES)}\n\n`)
