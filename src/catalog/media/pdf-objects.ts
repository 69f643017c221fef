/**
 * Reads the objects of a PDF strictly. A file that two readers could understand differently is refused: objects defined twice or hidden in
 * other bytes, wrong cross-references, duplicate keys, wrong lengths.
 */

/** A value: a text that begins with `/` is a name, `()` stands for any text, and others are keywords. */
export type PdfValue = string | number | PdfReference | PdfValue[] | PdfDictionary
export type PdfReference = { ref: number }
export type PdfDictionary = Map<string, PdfValue>

export type PdfObject = { value: PdfValue; data?: { start: number; end: number } }

/** PDF's white space differs from JavaScript's. */
const SPACE = '[\\0\\t\\n\\f\\r ]'
const WORD = '[^\\0\\t\\n\\f\\r ()<>\\[\\]{}/%]'
const BLANK = new RegExp(`${SPACE}+|%[^\\r\\n]*`, 'y')
const TOKEN = new RegExp(`<<|>>|[[\\](]|<[0-9A-Fa-f\\0\\t\\n\\f\\r ]*>|/${WORD}*|${WORD}+`, 'y')
const REFERENCE = new RegExp(`(\\d{1,10})${SPACE}+\\d{1,5}${SPACE}+R(?!${WORD})`, 'y')
const OBJECT = new RegExp(`(\\d{1,10})${SPACE}+\\d{1,5}${SPACE}+obj(?!${WORD})`, 'y')
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/
/** A letter or digit that is written as an escape. Only a file that hides something does this. */
const DISGUISED = /#(?:3[0-9]|[46][1-9A-F]|[57][0-9A])/i
const STREAM = /stream\r?\n/y
const END_OF_OBJECT = /endobj(?![A-Za-z])/y
const TABLE = new RegExp(`xref(?=${SPACE})`, 'y')
const TABLE_SECTION = new RegExp(`(\\d{1,10})${SPACE}+(\\d{1,7})(?=${SPACE}+\\d+${SPACE}+\\d+${SPACE}+[nf])`, 'y')
const TABLE_ENTRY = new RegExp(`(\\d{1,10})${SPACE}+\\d{1,5}${SPACE}+([nf])(?!${WORD})`, 'y')
const TRAILER = /trailer(?![A-Za-z])/y
const START_OF_TABLE = new RegExp(`startxref${SPACE}+(\\d{1,10})(?!${WORD})`, 'y')
/** Words that structure the file, wherever they occur. */
const STRUCTURE = /(?<=[\0\t\n\f\r \d])obj|xref|trailer/g
const MAX_DEPTH = 64

/** The file cannot be read strictly. */
class Unclear extends Error {}

/** All objects by number; undefined if the file is ambiguous. Takes linear time in `text`, the file's bytes as latin1. */
export function readPdfObjects(text: string): Map<number, PdfObject> | undefined {
  if (!text.startsWith('%PDF-')) return undefined
  try {
    return new Reader(text).read()
  } catch (error) {
    if (error instanceof Unclear) return undefined
    throw error
  }
}

class Reader {
  private at = 0
  private words = 0
  private readonly objects = new Map<number, PdfObject>()
  private readonly starts = new Map<number, number>()
  private readonly entries: { id: number; start: number }[] = []
  private readonly tables: number[] = []
  private readonly toTables: number[] = []

  constructor(private readonly text: string) {}

  read(): Map<number, PdfObject> {
    for (this.skipBlank(); this.at < this.text.length; this.skipBlank()) {
      if (!(this.readObject() || this.readTable() || this.readTrailer() || this.readStart())) throw new Unclear()
    }
    if ((this.text.match(STRUCTURE)?.length ?? 0) !== this.words) throw new Unclear()
    if (this.entries.some(({ id, start }) => this.starts.get(id) !== start)) throw new Unclear()
    if (this.tables.length > 0 && !this.toTables.every((start) => this.tables.includes(start))) throw new Unclear()
    for (const object of this.objects.values()) this.checkLength(object)
    return this.objects
  }

  private readObject(): boolean {
    const start = this.at
    const head = this.take(OBJECT)
    if (!head) return false
    this.words += 1
    const id = Number(head[1])
    if (this.objects.has(id)) throw new Unclear()
    const object: PdfObject = { value: this.readValue(0) }
    this.skipBlank()
    if (object.value instanceof Map && this.take(STREAM)) {
      const end = this.text.indexOf('endstream', this.at)
      if (end === -1) throw new Unclear()
      object.data = { start: this.at, end }
      this.at = end + 'endstream'.length
      this.skipBlank()
    }
    if (!this.take(END_OF_OBJECT)) throw new Unclear()
    this.objects.set(id, object)
    this.starts.set(id, start)
    return true
  }

  private readTable(): boolean {
    const start = this.at
    if (!this.take(TABLE)) return false
    this.words += 1
    this.tables.push(start)
    for (;;) {
      this.skipBlank()
      const section = this.take(TABLE_SECTION)
      if (!section) return true
      const [first, count] = [Number(section[1]), Number(section[2])]
      for (let index = 0; index < count; index += 1) {
        this.skipBlank()
        const entry = this.take(TABLE_ENTRY)
        if (!entry) throw new Unclear()
        if (entry[2] === 'n') this.entries.push({ id: first + index, start: Number(entry[1]) })
      }
    }
  }

  private readTrailer(): boolean {
    if (!this.take(TRAILER)) return false
    this.words += 1
    const trailer = this.readValue(0)
    if (!(trailer instanceof Map) || trailer.has('/Encrypt') || trailer.has('/XRefStm')) throw new Unclear()
    const previous = trailer.get('/Prev')
    if (typeof previous === 'number') this.toTables.push(previous)
    else if (previous !== undefined) throw new Unclear()
    return true
  }

  private readStart(): boolean {
    const start = this.take(START_OF_TABLE)
    if (!start) return false
    this.words += 1
    this.toTables.push(Number(start[1]))
    return true
  }

  private readValue(depth: number): PdfValue {
    if (depth > MAX_DEPTH) throw new Unclear()
    this.skipBlank()
    const reference = this.take(REFERENCE)
    if (reference) return { ref: Number(reference[1]) }
    const token = this.take(TOKEN)?.[0]
    if (token === undefined || token === '>>' || token === ']') throw new Unclear()
    if (token === '<<') return this.readDictionary(depth)
    if (token === '[') return this.readArray(depth)
    if (token === '(') return this.skipText()
    if (token.startsWith('<')) return '()'
    if (token.startsWith('/') && DISGUISED.test(token)) throw new Unclear()
    return NUMBER.test(token) ? Number(token) : token
  }

  private readDictionary(depth: number): PdfDictionary {
    const dictionary: PdfDictionary = new Map()
    while (!this.closes('>>')) {
      const key = this.readValue(depth + 1)
      if (typeof key !== 'string' || !key.startsWith('/') || dictionary.has(key)) throw new Unclear()
      dictionary.set(key, this.readValue(depth + 1))
    }
    return dictionary
  }

  private readArray(depth: number): PdfValue[] {
    const array: PdfValue[] = []
    while (!this.closes(']')) array.push(this.readValue(depth + 1))
    return array
  }

  private skipText(): string {
    this.at = endOfText(this.text, this.at)
    if (this.at > this.text.length) throw new Unclear()
    return '()'
  }

  private closes(mark: string): boolean {
    this.skipBlank()
    if (!this.text.startsWith(mark, this.at)) return false
    this.at += mark.length
    return true
  }

  private checkLength({ value, data }: PdfObject): void {
    if (!data || !(value instanceof Map)) return
    const stated = value.get('/Length')
    const length = isReference(stated) ? this.objects.get(stated.ref)?.value : stated
    if (typeof length !== 'number' || length < 0) throw new Unclear()
    const rest = this.text.slice(data.start + length, data.end)
    if (data.start + length > data.end || rest.length > 2 || /[^\r\n ]/.test(rest)) throw new Unclear()
    data.end = data.start + length
  }

  private skipBlank(): void {
    while (this.take(BLANK));
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found) this.at += found[0].length
    return found
  }
}

/** The position after the parenthesised text whose content starts at `at`; an index after the file's end if it is not closed. */
export function endOfText(text: string, at: number): number {
  let depth = 1
  for (let place = at; place < text.length; place += 1) {
    const char = text.charCodeAt(place)
    if (char === 0x5c) place += 1
    else if (char === 0x28) depth += 1
    else if (char === 0x29) depth -= 1
    if (depth === 0) return place + 1
  }
  return text.length + 1
}

/** Whether a value refers to another object of the file. */
export function isReference(value: PdfValue | undefined): value is PdfReference {
  return typeof value === 'object' && 'ref' in value
}
