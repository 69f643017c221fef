/** The most bytes of text that can be extracted from a PDF's pages: the codes they show, times the size that fonts give a code. */
import { endOfText } from './pdf-objects'

/** The most UTF-8 bytes of each code, over all fonts of the file: for one-byte and two-byte codes. */
export type CodeSizes = { single: Uint8Array; double?: Uint8Array }

/** A font's map from codes to text. `sizes`: bytes by code; `width`: digits of a code, 0 if they differ; `codes`: number of entries. */
export type UnicodeMap = { sizes: ReadonlyMap<number, number>; width: number; codes: number }

/** Maximum characters (UTF-16 units) for one code: enough for ligatures. With more, a small file could contain much text. */
const MAX_TARGET_UNITS = 4
const SECTION = /^(char|range)/
const [BEGIN, END] = ['beginbf', 'endbf']
const CHAR_LINE = /<([\dA-Fa-f]+)>\s*<([\dA-Fa-f\s]*)>/y
const RANGE_LINE = /<([\dA-Fa-f]+)>\s*<([\dA-Fa-f]+)>\s*(?:<([\dA-Fa-f\s]*)>|\[((?:\s*<[\dA-Fa-f\s]*>)*)\s*\])/y
const TARGET = /<([\dA-Fa-f\s]*)>/g
const BLANK = /\s*/y
/** A hexadecimal text, the start of a parenthesised text, or the name `/ActualText`, or a name whose escapes may hide it. */
const SHOWN = /\(|<[\dA-Fa-f\0\t\n\f\r ]*>|\/(?:ActualText|\w*#)/g
/** Maximum UTF-8 bytes for each byte of a text after `/ActualText`. */
const SPELT_BYTES = 3
const [SPACE_CODE, DIGIT_CODE, LETTER_CODE, LOWER_CODE] = [0x20, 0x30, 0x41, 0x61]
const ESCAPED = /\\(?:([0-7]{1,3})|(\r\n|[\s\S]))/g

/** Reads a ToUnicode map of at most `most` codes. Undefined if its form is unusual, or if it makes much text from little data. */
export function readUnicodeMap(text: string, most: number): UnicodeMap | undefined {
  if (/usecmap/.test(text)) return undefined
  const sizes = new Map<number, number>()
  const widths = new Set<number>()
  let codes = 0
  function add(source: string, last: number, target: string, step: number): boolean {
    const first = Number.parseInt(source, 16)
    codes += last - first + 1
    if (codes > most || source.length > 4) return false
    widths.add(source.length)
    for (let code = first; code <= last; code += 1) {
      const size = targetSize(target, (code - first) * step)
      if (size === undefined) return false
      sizes.set(code, Math.max(size, sizes.get(code) ?? 0))
    }
    return true
  }
  for (let at = text.indexOf(BEGIN); at !== -1; at = text.indexOf(BEGIN, at)) {
    const end = text.indexOf(END, at)
    const section = text.slice(at + BEGIN.length, end)
    const kind = SECTION.exec(section)?.[0]
    const read = kind === 'char' ? readChars : readRanges
    if (end === -1 || !kind || !read(section.slice(kind.length), add)) return undefined
    at = end
  }
  return { sizes, width: widths.size === 1 ? ([...widths][0] as number) : 0, codes }
}

/**
 * The most bytes of text in a page's content. Each text is read as one-byte and as two-byte codes. The larger size counts, plus a space
 * before the text. Stops at `most`. Comments and pictures are not excluded: anything that looks like a text counts.
 */
export function shownBytes(content: string, sizes: CodeSizes, most: number): number {
  const bytes = new Uint8Array(content.length + 1)
  let total = 0
  let least = 0
  SHOWN.lastIndex = 0
  for (let found = SHOWN.exec(content); found && total <= most; found = SHOWN.exec(content)) {
    const [token] = found
    if (token.startsWith('/')) {
      least = SPELT_BYTES
      total += 1
      continue
    }
    const count = token === '(' ? readLiteral(content, found.index + 1, bytes) : readHex(token, bytes)
    total += 1 + Math.max(sizeOf(bytes, count, sizes), count * least)
    least = 0
  }
  return total
}

function sizeOf(bytes: Uint8Array, count: number, { single, double }: CodeSizes): number {
  let [one, two] = [0, 0]
  for (let at = 0; at < count; at += 1) one += single[bytes[at] ?? 0] ?? 0
  if (!double) return one
  bytes[count] = 0
  for (let at = 0; at < count; at += 2) two += double[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? 0
  return Math.max(one, two)
}

/** Writes the bytes of a parenthesised text into `bytes`, returns their number, and continues after the text. */
function readLiteral(content: string, start: number, bytes: Uint8Array): number {
  const end = Math.min(endOfText(content, start), content.length + 1)
  SHOWN.lastIndex = Math.min(end, content.length)
  const text = content.slice(start, end - 1).replace(ESCAPED, (_, octal: string | undefined, char: string) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
    return /[\r\n]/.test(char) ? '' : ({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[char] ?? char)
  })
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return text.length
}

/** Counts the text bytes of hexadecimal digits; a missing last digit is 0. */
function readHex(token: string, bytes: Uint8Array): number {
  let digits = 0
  for (let at = 1; at < token.length - 1; at += 1) {
    const char = token.charCodeAt(at)
    if (char <= SPACE_CODE) continue
    const value = char < LETTER_CODE ? char - DIGIT_CODE : ((char | SPACE_CODE) - LOWER_CODE + 10) & 0xf
    const place = digits >> 1
    bytes[place] = digits % 2 === 0 ? value << 4 : (bytes[place] ?? 0) | value
    digits += 1
  }
  return (digits + 1) >> 1
}

type Add = (source: string, last: number, target: string, step: number) => boolean

function readChars(body: string, add: Add): boolean {
  return readLines(body, CHAR_LINE, ([, source = '', target = '']) =>
    add(source, Number.parseInt(source, 16), target, 0),
  )
}

function readRanges(body: string, add: Add): boolean {
  return readLines(body, RANGE_LINE, ([, source = '', end = '', target, list = '']) => {
    const [first, last] = [Number.parseInt(source, 16), Number.parseInt(end, 16)]
    if (end.length !== source.length || last < first) return false
    if (target !== undefined) return add(source, last, target, 1)
    return [...list.matchAll(TARGET)].every(([, one = ''], index) =>
      add((first + index).toString(16).padStart(source.length, '0'), first + index, one, 0),
    )
  })
}

function readLines(body: string, line: RegExp, read: (found: RegExpExecArray) => boolean): boolean {
  for (let at = skipBlank(body, 0); at < body.length; at = skipBlank(body, line.lastIndex)) {
    line.lastIndex = at
    const found = line.exec(body)
    if (!found || !read(found)) return false
  }
  return true
}

function skipBlank(text: string, at: number): number {
  BLANK.lastIndex = at
  BLANK.exec(text)
  return BLANK.lastIndex
}

/** UTF-8 bytes of a map entry's text (UTF-16 as hex digits), its last unit increased by `more`. Undefined if it is too long. */
function targetSize(target: string, more: number): number | undefined {
  const digits = target.replace(/\s/g, '')
  if (digits.length > MAX_TARGET_UNITS * 4 || (digits.length > 2 && digits.length % 4 > 0)) return undefined
  let size = 0
  for (let at = 0; at < digits.length; at += 4) {
    const unit = Number.parseInt(digits.slice(at, at + 4), 16) + (at + 4 >= digits.length ? more : 0)
    size += utf8Bytes(unit)
  }
  return size
}

/** UTF-8 bytes of a character, or of half a surrogate pair. */
function utf8Bytes(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 ? 2 : 3
}
