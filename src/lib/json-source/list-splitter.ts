/** Splits the one list of a streamed JSON object into its entries, so that a body of any length needs no more memory than an entry. */
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** Why a text is not split: no object with one such list, an entry that is too long, or too many bytes outside the list. */
export type SplitFault = 'no_list' | 'long_entry' | 'long_rest'

/** Ends the reading of a text. `entries`: the number of whole entries before the fault. */
export class SplitError extends Error {
  override readonly name = 'SplitError'
  constructor(
    readonly fault: SplitFault,
    readonly entries: number,
  ) {
    super(fault)
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LAST_WHITE_SPACE = 0x20
/** Depths: inside the object, and inside its list. */
const OBJECT_DEPTH = 1
const LIST_DEPTH = 2
/** Maximum size of everything outside the list. */
const MAX_REST_BYTES = 64 * 1024

const decoder = new TextDecoder()

/**
 * Yields the bytes of each entry of the list at `field`, unparsed, and returns the rest of the object, with the list empty. An entry may be
 * invalid JSON, also an empty text. Throws a {@link SplitError}. The field's name must be written without escapes.
 */
export async function* splitList(
  chunks: AsyncIterable<Uint8Array>,
  field: string,
  maxEntryBytes: number,
): AsyncGenerator<Uint8Array, JsonObject> {
  const splitter = new ListSplitter(field, maxEntryBytes)
  for await (const chunk of chunks) yield* splitter.push(chunk)
  return splitter.end()
}

class ListSplitter {
  private readonly opening: RegExp
  /** The bytes outside the list. */
  private readonly rest: number[] = []
  /** The current entry's bytes from earlier chunks. */
  private pieces: Uint8Array[] = []
  private pieceBytes = 0
  private entries = 0
  private depth = 0
  private isInList = false
  private isInText = false
  private isEscaped = false
  private wasListFound = false

  constructor(
    field: string,
    private readonly maxEntryBytes: number,
  ) {
    this.opening = new RegExp(`"${RegExp.escape(field)}" ?: ?$`)
  }

  *push(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0
    for (let index = 0; index < chunk.length; index++) {
      const code = chunk[index] ?? 0
      if (!this.isInList) {
        this.keep(code)
        if (this.opens(code)) start = index + 1
      } else if (this.endsEntry(code)) {
        const entry = this.entryTo(chunk.subarray(start, index))
        start = index + 1
        if (!this.isInList) this.keep(code)
        if (entry) yield entry
      }
    }
    if (this.isInList) this.carry(chunk.slice(start))
  }

  /** The object without the list's entries. */
  end(): JsonObject {
    const around = this.wasListFound ? parseJson(decoder.decode(new Uint8Array(this.rest))) : undefined
    if (this.depth !== 0 || !isJsonObject(around)) throw new SplitError('no_list', this.entries)
    return around
  }

  /** Takes a byte outside the list. Returns whether the list begins after it. */
  private opens(code: number): boolean {
    if (this.isPartOfText(code)) return false
    if (code === OPEN_BRACE) this.depth++
    else if (code === OPEN_BRACKET) {
      this.depth++
      if (this.depth !== LIST_DEPTH || !this.opening.test(this.textBefore())) return false
      if (this.wasListFound) throw new SplitError('no_list', this.entries)
      this.wasListFound = true
      this.isInList = true
      return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.depth--
    return false
  }

  /** Takes a byte of the list. Returns whether an entry ends before it. At the closing bracket, the list ends too. */
  private endsEntry(code: number): boolean {
    if (this.isPartOfText(code)) return false
    if (code === COMMA) return this.depth === LIST_DEPTH
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.depth--
      if (this.depth !== OBJECT_DEPTH) return false
      if (code === CLOSE_BRACE) throw new SplitError('no_list', this.entries)
      this.isInList = false
      return true
    }
    return false
  }

  private isPartOfText(code: number): boolean {
    if (!this.isInText) {
      this.isInText = code === QUOTE
      return this.isInText
    }
    if (this.isEscaped) this.isEscaped = false
    else if (code === BACKSLASH) this.isEscaped = true
    else if (code === QUOTE) this.isInText = false
    return true
  }

  /** The current entry, which ends with `last`; undefined if the list is empty. */
  private entryTo(last: Uint8Array): Uint8Array | undefined {
    this.carry(last)
    const entry = this.pieces.length === 1 ? last : Buffer.concat(this.pieces)
    this.pieces = []
    this.pieceBytes = 0
    const isNone = !this.isInList && this.entries === 0 && entry.every((code) => code <= LAST_WHITE_SPACE)
    if (isNone) return undefined
    this.entries++
    return entry
  }

  private carry(piece: Uint8Array): void {
    this.pieceBytes += piece.length
    if (this.pieceBytes > this.maxEntryBytes) throw new SplitError('long_entry', this.entries)
    this.pieces.push(piece)
  }

  /** Adds a byte to `rest`, the bytes outside the list. White space between tokens becomes one space. */
  private keep(code: number): void {
    const isSpace = !this.isInText && code <= LAST_WHITE_SPACE
    if (isSpace && this.rest.at(-1) === LAST_WHITE_SPACE) return
    if (this.rest.length >= MAX_REST_BYTES) throw new SplitError('long_rest', this.entries)
    this.rest.push(isSpace ? LAST_WHITE_SPACE : code)
  }

  /** The last bytes of `rest` as text, except the bracket at its end. */
  private textBefore(): string {
    return decoder.decode(new Uint8Array(this.rest.slice(-MAX_NAME_BYTES, -1)))
  }
}

/** Enough for a field's name with colon and spaces. */
const MAX_NAME_BYTES = 64
