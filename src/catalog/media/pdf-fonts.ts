/** The text sizes of a PDF's fonts: the most bytes for each code, if the font states it plainly. */
import { isReference, type PdfDictionary, type PdfReference, type PdfValue } from './pdf-objects'
import type { CodeSizes, UnicodeMap } from './pdf-text'

/** A character that a font's own program names. */
const ANY_CHARACTER_BYTES = 4
const SINGLE_CODES = 256
const DOUBLE_CODES = 65_536
const IDENTITY: ReadonlySet<PdfValue | undefined> = new Set(['/Identity-H', '/Identity-V'])
const LATIN: ReadonlySet<PdfValue | undefined> = new Set(['/WinAnsiEncoding', '/MacRomanEncoding', '/StandardEncoding'])
const SIMPLE: ReadonlySet<PdfValue | undefined> = new Set(['/Type1', '/TrueType', '/MMType1'])
/** Fonts that every reader has; those of symbols are none of them. */
const LATIN_FONT = /^\/(?:Helvetica|Times|Courier|Arial)/
/** In the standard encoding these two of ASCII are curly quotes. */
const CURLY: readonly number[] = [0x27, 0x60]
/** Names of glyphs that may stand for more than one character, but for a ligature of letters. */
const LIGATURE = /^\/[A-Za-z](?:_[A-Za-z]){1,3}$/
const LONG_NAME = /_|^\/uni[\dA-Fa-f]{5}|^.{21}/

/** How to look into a file. */
type PdfLookup = {
  resolve: (value: PdfValue | undefined) => PdfValue | undefined
  /** The map of this stream; undefined if it is none that is plain. */
  mapOf: (map: PdfReference) => UnicodeMap | undefined
}

/** The text sizes of a file's fonts: for codes of one byte, and the maps of fonts with two. */
type FontSizes = { single: Uint8Array; doubles: (UnicodeMap | undefined)[] }

/** Of a file without fonts: readers take one of their own. */
export function noFonts(): FontSizes {
  return { single: Uint8Array.from({ length: SINGLE_CODES }, (_, code) => latinSize(code)), doubles: [] }
}

/** The most over all `fonts`. */
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

/** Adds what `font` makes of its codes to `sizes`. False if it doesn't tell. */
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

/** What a font of single codes makes of one that no map names. Undefined if its own program may say anything. */
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

/** Undefined if a name may be many characters. */
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
