/** Reads HTTP/1.1 answers off a socket, one after another, at as little cost as may be: the client must not be what is measured. */

interface AnswerReader {
  /** Takes what came; true once the answer is complete. Nothing is pipelined, so nothing follows it. */
  push(bytes: Buffer): boolean
  /** Of the answer that is being read, or was read last; 0 before its first line. */
  status(): number
  /** Makes ready for the next answer. */
  reset(): void
}

type Phase = 'head' | 'length' | 'size' | 'data' | 'trailer' | 'done'

const HEAD_END = '\r\n\r\n'
const LINE_END = '\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i

/** Creates the reader of one connection. */
export function createAnswerReader(): AnswerReader {
  let phase: Phase = 'head'
  let status = 0
  /** Bytes of the body, or of the chunk with its line end, that are still to come. */
  let missing = 0
  let pending: Buffer | undefined

  /** Reads on from `at`; what makes no whole line is kept for the next time. */
  function advance(bytes: Buffer, start: number): void {
    let at = start
    while (phase !== 'done') {
      if (phase === 'length' || phase === 'data') {
        const taken = Math.min(missing, bytes.length - at)
        missing -= taken
        at += taken
        if (missing > 0) return
        phase = phase === 'length' ? 'done' : 'size'
        continue
      }
      const end = bytes.indexOf(phase === 'head' ? HEAD_END : LINE_END, at)
      if (end === -1) {
        pending = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined
        return
      }
      if (phase === 'head') at = readHead(bytes, at, end)
      else at = readLine(bytes, at, end)
    }
  }

  function readHead(bytes: Buffer, at: number, end: number): number {
    const head = bytes.toString('latin1', at, end)
    status = Number(head.slice(9, 12))
    const length = CONTENT_LENGTH.exec(head)?.[1]
    if (length !== undefined) {
      missing = Number(length)
      phase = missing === 0 ? 'done' : 'length'
    } else phase = CHUNKED.test(head) ? 'size' : 'done'
    return end + HEAD_END.length
  }

  function readLine(bytes: Buffer, at: number, end: number): number {
    if (phase === 'trailer') {
      if (end === at) phase = 'done'
    } else {
      const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
      missing = size + LINE_END.length
      phase = size === 0 ? 'trailer' : 'data'
    }
    return end + LINE_END.length
  }

  return {
    push(bytes) {
      const whole = pending === undefined ? bytes : Buffer.concat([pending, bytes])
      pending = undefined
      advance(whole, 0)
      return phase === 'done'
    },
    status: () => status,
    reset() {
      phase = 'head'
      status = 0
      missing = 0
      pending = undefined
    },
  }
}
