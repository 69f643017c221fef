/** Computes the most text bytes that each character code of a PDF's fonts can produce, if the fonts state it plainly. */
import { isReference, type PdfDictionary, type PdfReference, type PdfValue } from './pdf-objects'
import type { CodeSizes, UnicodeMap } from './pdf-text'

/** Maximum UTF-8 bytes of one character, if the name of its glyph doesn't tell which character it is. */
const ANY_CHARACTER_BYTES = 4
const SINGLE_CODES = 256
const DOUBLE_CODES = 65_536
const IDENTITY: ReadonlySet<PdfValue | undefined> = new Set(['/Identity-H', '/Identity-V'])
const LATIN: ReadonlySet<PdfValue | undefined> = new Set(['/WinAnsiEncoding', '/MacRomanEncoding', '/StandardEncoding'])
const SIMPLE: ReadonlySet<PdfValue | undefined> = new Set(['/Type1', '/TrueType', '/MMType1'])
/** Standard Latin fonts that every reader has; symbol fonts are not included. */
const LATIN_FONT = /^\/(?:Helvetica|Times|Courier|Arial)/
/** The ASCII codes of ' and `, which are curly quotes in the standard encoding. */
const CURLY: readonly number[] = [0x27, 0x60]
/** Names of letter ligatures, such as `/f_f_i`. LONG_NAME: other glyph names that may stand for several characters. */
const LIGATURE = /^\/[A-Za-z](?:_[A-Za-z]){1,3}$/
const LONG_NAME = /_|^\/uni[\dA-Fa-f]{5}|^.{21}/

type PdfLookup = {
  resolve: (value: PdfValue | undefined) => PdfValue | undefined
  /** Parses the code map in this stream; undefined if its form is unusual. */
  mapOf: (map: PdfReference) => UnicodeMap | undefined
}

type FontSizes = { single: Uint8Array; doubles: (UnicodeMap | undefined)[] }

/** Sizes for a file without fonts: readers then use a Latin font of their own. */
export function noFonts(): FontSizes {
  return { single: Uint8Array.from({ length: SINGLE_CODES }, (_, code) => latinSize(code)), doubles: [] }
}

/** The largest size of each code over all `fonts`. */
export function codeSizes({ single, doubles }: FontSizes): CodeSizes {
  if (doubles.length === 0) return { single }
  const double = new Uint8Array(DOUBLE_CODES)
  const mapped = new Uint32Array(DOUBLE_CODES)
  for (const map of doubles) {
    for (const [code, size] of map?.sizes ?? []) {
      double[code] = Math.max(double[code] ?? 0, size)
      mapped[code] = (mapped[code] ?? 0) + 1
    }
  }
  const unmapped = doubles.includes(undefined) ? [ANY_CHARACTER_BYTES, ANY_CHARACTER_BYTES] : [1, 3]
  for (let code = 0; code < DOUBLE_CODES; code += 1) {
    const own = (mapped[code] === doubles.length ? 0 : unmapped[code < 0x80 ? 0 : 1]) ?? 0
    double[code] = Math.max(double[code] ?? 0, own)
  }
  return { single, double }
}

/** Adds to `sizes` the most text bytes that each code of `font` can become. False if the font leaves this unclear. */
export function addFont(font: PdfDictionary, sizes: FontSizes, lookup: PdfLookup): boolean {
  const named = font.get('/ToUnicode')
  const map = isReference(named) ? lookup.mapOf(named) : undefined
  if (isReference(named) && !map) return false
  const subtype = lookup.resolve(font.get('/Subtype'))
  if (subtype === '/Type0') return addDouble(font, map, sizes, lookup)
  return SIMPLE.has(subtype) && addSingle(font, map, sizes, lookup)
}

function addDouble(font: PdfDictionary, map: UnicodeMap | undefined, sizes: FontSizes, { resolve }: PdfLookup) {
  if (!IDENTITY.has(resolve(font.get('/Encoding')))) return false
  if (map && map.sizes.size > 0 && map.width !== 4) return false
  sizes.doubles.push(map)
  return true
}

function addSingle(font: PdfDictionary, map: UnicodeMap | undefined, sizes: FontSizes, lookup: PdfLookup): boolean {
  if (map && [...map.sizes.keys()].some((code) => code >= SINGLE_CODES)) return false
  const own = ownSizes(font, lookup)
  if (!own) return false
  for (let code = 0; code < SINGLE_CODES; code += 1) {
    sizes.single[code] = Math.max(sizes.single[code] ?? 0, map?.sizes.get(code) ?? own(code))
  }
  return true
}

/** The text sizes of one-byte codes that no map lists. Undefined if the font program may define any character. */
function ownSizes(font: PdfDictionary, { resolve }: PdfLookup): ((code: number) => number) | undefined {
  const encoding = resolve(font.get('/Encoding'))
  const descriptor = resolve(font.get('/FontDescriptor'))
  const program =
    descriptor instanceof Map ? ['/FontFile', '/FontFile2', '/FontFile3'].find((key) => descriptor.has(key)) : undefined
  if (encoding === undefined || typeof encoding === 'string') {
    if (LATIN.has(encoding)) return latinSize
    if (program === '/FontFile') return undefined
    return !program && LATIN_FONT.test(String(font.get('/BaseFont'))) ? latinSize : () => ANY_CHARACTER_BYTES
  }
  if (!(encoding instanceof Map)) return undefined
  const differences = resolve(encoding.get('/Differences')) ?? []
  if (!Array.isArray(differences)) return undefined
  const base = encoding.get('/BaseEncoding')
  const isLatin = LATIN.has(base) || (base === undefined && !program)
  if (program === '/FontFile' && !isLatin) return undefined
  const sizes = readDifferences(differences)
  return sizes && ((code) => sizes.get(code) ?? (isLatin ? latinSize(code) : ANY_CHARACTER_BYTES))
}

function latinSize(code: number): number {
  return code < 0x80 && !CURLY.includes(code) ? 1 : 3
}

/** Sizes of the codes that an encoding changes. Undefined if a glyph name may be many characters. */
function readDifferences(differences: readonly PdfValue[]): Map<number, number> | undefined {
  const sizes = new Map<number, number>()
  let code = 0
  for (const item of differences) {
    if (typeof item === 'number') code = item
    else if (typeof item !== 'string' || (LONG_NAME.test(item) && !LIGATURE.test(item))) return undefined
    else {
      sizes.set(code, /^\/[A-Za-z]$/.test(item) ? 1 : ANY_CHARACTER_BYTES)
      code += 1
    }
  }
  return sizes
}
