/** Server-sent events: parses and writes them by the WHATWG rules, and keeps every event's own text for relaying. */

/**
 * One block of an event stream. `data` is undefined without a data line (a comment, a bare event name). `raw` is the exact text with its
 * blank line, so all `raw` texts together are the stream. A byte order mark at the start is dropped, since some clients would lose the
 * first event.
 */
export type SseEvent = { event: string | undefined; data: string | undefined; raw: string }

/** An event to send; formats without event names omit `event`. */
export type Frame = { event?: string; data: string }

export class SseEventTooLargeError extends Error {
  override readonly name = 'SseEventTooLargeError'
}

const BYTE_ORDER_MARK = '\uFEFF'
const LINE_FEED = 0x0a
const SPACE = 0x20
const STREAM = { stream: true }

/** Parses one stream of events: LF, CR or CRLF, several data lines, comments. Linear; an event has `maxEventChars` at most. */
export class SseParser {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  private buffer = ''
  // Positions in the buffer: the start of the open block and of its open line, and how far line ends were searched.
  private blockStart = 0
  private lineStart = 0
  private scanned = 0
  // A CR at the very end of the buffer may be half of a CRLF.
  private skipLineFeed = false
  private atStreamStart = true
  private eventName: string | undefined
  private data: string | undefined

  constructor(private readonly maxEventChars = 16 * 1024 * 1024) {}

  /** Takes the next bytes, split anywhere, and returns the blocks they complete. */
  push(bytes: Uint8Array): SseEvent[] {
    return this.append(this.decode(bytes))
  }

  /** The first step of {@link push}: decodes the next bytes, without an incomplete last character. */
  decode(bytes: Uint8Array): string {
    return this.decoder.decode(bytes, STREAM)
  }

  /** The second step of {@link push}: returns the blocks that `text` completes. Blocks may be left out while {@link isBetweenBlocks}. */
  append(text: string): SseEvent[] {
    if (text === '') return []
    this.buffer += text
    if (this.atStreamStart) {
      this.atStreamStart = false
      if (this.buffer.startsWith(BYTE_ORDER_MARK)) this.buffer = this.buffer.slice(BYTE_ORDER_MARK.length)
    }
    return this.drain()
  }

  /** Whether the text so far ends with a complete block. */
  isBetweenBlocks(): boolean {
    return this.buffer === '' && !this.skipLineFeed && !this.atStreamStart
  }

  /** Returns the last block if no blank line ended it, so that nothing is lost in a relay. */
  end(): SseEvent[] {
    const events = this.append(this.decoder.decode())
    if (this.lineStart < this.buffer.length) this.readLine(this.buffer.slice(this.lineStart))
    if (this.buffer !== '') events.push(this.takeBlock(this.buffer.length))
    return events
  }

  private readLine(line: string): void {
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5)
      this.data = this.data === undefined ? value : `${this.data}\n${value}`
    } else if (line === 'data') this.data = this.data === undefined ? '' : `${this.data}\n`
    else if (line.startsWith('event:')) this.eventName = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6)
    else if (line === 'event') this.eventName = ''
  }

  private takeBlock(end: number): SseEvent {
    this.checkSize(end - this.blockStart)
    const block = { event: this.eventName, data: this.data, raw: this.buffer.slice(this.blockStart, end) }
    this.blockStart = end
    this.eventName = undefined
    this.data = undefined
    return block
  }

  private checkSize(chars: number): void {
    if (chars > this.maxEventChars) throw new SseEventTooLargeError(`event exceeds ${this.maxEventChars} characters`)
  }

  private drain(): SseEvent[] {
    const events: SseEvent[] = []
    const { buffer } = this
    if (this.skipLineFeed) {
      this.skipLineFeed = false
      if (buffer.charCodeAt(this.scanned) === LINE_FEED) this.lineStart = ++this.scanned
    }
    let lineFeed = indexFrom(buffer, '\n', this.scanned)
    let carriageReturn = indexFrom(buffer, '\r', this.scanned)
    for (;;) {
      const end = Math.min(lineFeed, carriageReturn)
      if (end === Number.POSITIVE_INFINITY) break
      const isPair = end === carriageReturn && lineFeed === end + 1
      const next = isPair ? end + 2 : end + 1
      if (lineFeed < next) lineFeed = indexFrom(buffer, '\n', next)
      if (carriageReturn < next) {
        this.skipLineFeed = !isPair && next === buffer.length
        carriageReturn = indexFrom(buffer, '\r', next)
      }
      if (end === this.lineStart) events.push(this.takeBlock(next))
      else this.readLine(buffer.slice(this.lineStart, end))
      this.lineStart = next
    }
    this.buffer = buffer.slice(this.blockStart)
    this.lineStart -= this.blockStart
    this.blockStart = 0
    this.scanned = this.buffer.length
    this.checkSize(this.buffer.length)
    return events
  }
}

/** Writes one event with LF line ends; `data` may have several lines. */
export function formatSse(frame: Frame): string {
  const lines = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data
  return frame.event === undefined ? `data: ${lines}\n\n` : `event: ${frame.event}\ndata: ${lines}\n\n`
}

/** The index of `character` at or after `from`; Infinity if not found. */
function indexFrom(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index === -1 ? Number.POSITIVE_INFINITY : index
}
