/** Server-sent events: bytes to events and back, by the WHATWG rules, with every event's own text kept for pass-through. */

/**
 * One block of an event stream. `data` is undefined for a block without a data line (a comment, a bare event name).
 * `raw` is the block's exact text including its blank line, so that relaying all `raw` relays the stream, but for a byte order mark
 * at its start: not all clients know it there, and lose the first event.
 */
export type SseEvent = { event: string | undefined; data: string | undefined; raw: string }

/** What an encoder wants to send: `event` is left out where the format has no event names. */
export type Frame = { event?: string; data: string }

interface SseParser {
  /** Takes the next bytes, split anywhere, and returns the blocks they complete. */
  push(bytes: Uint8Array): SseEvent[]
  /** {@link push} in two steps: the text of the next bytes, less what they hold of a character that goes on, ... */
  decode(bytes: Uint8Array): string
  /** ... and the blocks that it completes. A whole block at the start of the text may be left out between blocks. */
  append(text: string): SseEvent[]
  /** Whether what was appended so far ends with a block, so that the next text begins with another. */
  isBetweenBlocks(): boolean
  /** Returns the last block if no blank line closed it, whatever it says, so that nothing is lost on the way through. */
  end(): SseEvent[]
}

/** Thrown by {@link SseParser.push} when one event outgrows the parser's limit. */
export class SseEventTooLargeError extends Error {
  override readonly name = 'SseEventTooLargeError'
}

const BYTE_ORDER_MARK = '\uFEFF'
const LINE_FEED = 0x0a
const SPACE = 0x20
const STREAM = { stream: true }

/** Parses one stream of events: LF, CR or CRLF, several data lines, comments. Linear; an event takes `maxEventChars` at most. */
export function createSseParser(maxEventChars = 16 * 1024 * 1024): SseParser {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let buffer = ''
  // Places in the buffer: where the open block and its open line begin, and up to where line ends were looked for.
  let blockStart = 0
  let lineStart = 0
  let scanned = 0
  // A CR at the very end of the buffer may be half of a CRLF.
  let skipLineFeed = false
  let atStreamStart = true
  let eventName: string | undefined
  let data: string | undefined

  function readLine(line: string): void {
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line === 'data') data = data === undefined ? '' : `${data}\n`
    else if (line.startsWith('event:')) eventName = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6)
    else if (line === 'event') eventName = ''
  }

  function takeBlock(end: number): SseEvent {
    checkSize(end - blockStart)
    const block = { event: eventName, data, raw: buffer.slice(blockStart, end) }
    blockStart = end
    eventName = undefined
    data = undefined
    return block
  }

  function checkSize(chars: number): void {
    if (chars > maxEventChars) throw new SseEventTooLargeError(`event exceeds ${maxEventChars} characters`)
  }

  function drain(): SseEvent[] {
    const events: SseEvent[] = []
    if (skipLineFeed) {
      skipLineFeed = false
      if (buffer.charCodeAt(scanned) === LINE_FEED) lineStart = ++scanned
    }
    let lineFeed = indexFrom(buffer, '\n', scanned)
    let carriageReturn = indexFrom(buffer, '\r', scanned)
    for (;;) {
      const end = Math.min(lineFeed, carriageReturn)
      if (end === Number.POSITIVE_INFINITY) break
      const isPair = end === carriageReturn && lineFeed === end + 1
      const next = isPair ? end + 2 : end + 1
      if (lineFeed < next) lineFeed = indexFrom(buffer, '\n', next)
      if (carriageReturn < next) {
        skipLineFeed = !isPair && next === buffer.length
        carriageReturn = indexFrom(buffer, '\r', next)
      }
      if (end === lineStart) events.push(takeBlock(next))
      else readLine(buffer.slice(lineStart, end))
      lineStart = next
    }
    buffer = buffer.slice(blockStart)
    lineStart -= blockStart
    blockStart = 0
    scanned = buffer.length
    checkSize(buffer.length)
    return events
  }

  function append(text: string): SseEvent[] {
    if (text === '') return []
    buffer += text
    if (atStreamStart) {
      atStreamStart = false
      if (buffer.startsWith(BYTE_ORDER_MARK)) buffer = buffer.slice(BYTE_ORDER_MARK.length)
    }
    return drain()
  }

  const decode = (bytes: Uint8Array) => decoder.decode(bytes, STREAM)

  return {
    push: (bytes) => append(decode(bytes)),
    decode,
    append,
    isBetweenBlocks: () => buffer === '' && !skipLineFeed && !atStreamStart,
    end() {
      const events = append(decoder.decode())
      if (lineStart < buffer.length) readLine(buffer.slice(lineStart))
      if (buffer !== '') events.push(takeBlock(buffer.length))
      return events
    },
  }
}

/** Writes one event with LF line ends; `data` may span lines. */
export function formatSse(frame: Frame): string {
  const lines = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data
  return frame.event === undefined ? `data: ${lines}\n\n` : `event: ${frame.event}\ndata: ${lines}\n\n`
}

/** The index of `character` at or after `from`; Infinity where there is none. */
function indexFrom(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index === -1 ? Number.POSITIVE_INFINITY : index
}
