/** Server-sent events: bytes to events and back, by the WHATWG rules, with every event's own text kept for pass-through. */

/**
 * One block of an event stream. `data` is undefined for a block without a data line (a comment, a bare event name).
 * `raw` is the block's exact text including its blank line, so that relaying all `raw` relays the stream.
 */
export type SseEvent = { event: string | undefined; data: string | undefined; raw: string }

/** What an encoder wants to send: `event` is left out where the format has no event names. */
export type Frame = { event?: string; data: string }

export interface SseParser {
  /** Takes the next bytes, split anywhere, and returns the blocks they complete. */
  push(bytes: Uint8Array): SseEvent[]
  /** Returns a last block that no blank line closed, if there is one. */
  end(): SseEvent[]
}

/** Thrown by {@link SseParser.push} when one event outgrows the parser's limit. */
export class SseEventTooLargeError extends Error {
  override readonly name = 'SseEventTooLargeError'
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Creates a parser for one stream. Lines end in LF, CR or CRLF; several data lines join with LF; a byte order mark and
 * comments are allowed. Cost is linear in the bytes. `maxEventChars` bounds the memory one event may take.
 */
export function createSseParser(maxEventChars = 16 * 1024 * 1024): SseParser {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let buffer = ''
  let lineStart = 0
  let scanned = 0
  let skipLineFeed = false
  let atStreamStart = true
  let eventName: string | undefined
  let data: string | undefined

  function readLine(line: string): void {
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line === 'data') data = data === undefined ? '' : `${data}\n`
    else if (line.startsWith('event:')) eventName = line.slice(line.charCodeAt(6) === 0x20 ? 7 : 6)
  }

  function takeBlock(end: number): SseEvent {
    const block = { event: eventName, data, raw: buffer.slice(0, end) }
    buffer = buffer.slice(end)
    lineStart = 0
    scanned = 0
    eventName = undefined
    data = undefined
    return block
  }

  function drain(): SseEvent[] {
    const events: SseEvent[] = []
    for (;;) {
      if (skipLineFeed && scanned < buffer.length) {
        skipLineFeed = false
        if (buffer.charCodeAt(scanned) === 0x0a) {
          scanned++
          lineStart = scanned
        }
      }
      const end = endOfLine(buffer, scanned)
      if (end === -1) {
        scanned = buffer.length
        if (buffer.length > maxEventChars) throw new SseEventTooLargeError(`event exceeds ${maxEventChars} characters`)
        return events
      }
      const isCarriageReturn = buffer.charCodeAt(end) === 0x0d
      let next = end + 1
      if (isCarriageReturn) {
        if (next === buffer.length) skipLineFeed = true
        else if (buffer.charCodeAt(next) === 0x0a) next++
      }
      const line = buffer.slice(lineStart, end)
      lineStart = next
      scanned = next
      if (line === '') events.push(takeBlock(next))
      else readLine(line)
    }
  }

  function append(text: string): SseEvent[] {
    if (text === '') return []
    buffer += text
    if (atStreamStart) {
      atStreamStart = false
      if (buffer.startsWith(BYTE_ORDER_MARK)) {
        lineStart = 1
        scanned = 1
      }
    }
    return drain()
  }

  return {
    push: (bytes) => append(decoder.decode(bytes, { stream: true })),
    end() {
      const events = append(decoder.decode())
      if (lineStart < buffer.length) readLine(buffer.slice(lineStart))
      if (buffer !== '' && (data !== undefined || eventName !== undefined)) events.push(takeBlock(buffer.length))
      return events
    },
  }
}

/** Writes one event with LF line ends; `data` may span lines. */
export function formatSse(frame: Frame): string {
  const lines = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data
  return frame.event === undefined ? `data: ${lines}\n\n` : `event: ${frame.event}\ndata: ${lines}\n\n`
}

function endOfLine(text: string, from: number): number {
  const lineFeed = text.indexOf('\n', from)
  const carriageReturn = lineFeed === -1 ? text.indexOf('\r', from) : text.slice(from, lineFeed).indexOf('\r')
  if (carriageReturn === -1) return lineFeed
  return lineFeed === -1 ? carriageReturn : from + carriageReturn
}
