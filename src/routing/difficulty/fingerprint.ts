/** Hashes words, word pairs, parts of words, and characters of scripts without spaces to numbers (buckets) that have trained weights. */

export const BUCKETS = 1 << 18
const SHIFT = 14

/** Seeds of the hashes, one for each kind of piece and each part of the prompt. */
const WORD = 0x9e3779b1
const PAIR = 0x85ebca6b
const PIECE = 0xc2b2ae35
const OPENING = 0x27d4eb2f
const SIGN = 0x165667b1
const PAYLOAD = 0x5bd1e995
const SEED = 0x811c9dc5
const PRIME = 0x01000193

/** Number of first words with buckets for their position: an instruction's first words are the most significant. */
const OPENING_WORDS = 3
const OPENING_IDEOGRAPHS = 6
const PIECE_CHARS = 4
/** Longer words are cut to this length. */
const MAX_WORD_CHARS = 40
const MAX_IDEOGRAPHS = 3

const GAP = 0
const MARK = 1
const LETTER = 2
const IDEOGRAPH = 3

/** For each UTF-16 code: its kind, and its normalised code (lower case, one code for all digits). */
const KIND = Uint8Array.from({ length: 0x1_0000 }, (_, code) => kindOf(code))
const FOLDED = Uint16Array.from({ length: 0x1_0000 }, (_, code) => foldedOf(code))

/** Called for each piece of a text, with its bucket. The piece is in the word from `start` to `end`. */
type BucketTaker = (bucket: number, start: number, end: number) => void

/** Calls `take` with every bucket of `text`. Linear, and allocates no memory. The material (`isPayload`) has buckets for words only. */
export function fingerprint(text: string, isPayload: boolean, take: BucketTaker): void {
  const salt = isPayload ? PAYLOAD : 0
  let previous = 0
  let words = 0
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    const kind = KIND[code]
    if (kind === GAP) {
      index++
    } else if (kind === MARK) {
      previous = mix(code, SIGN)
      take(bucketOf(mix(code, SIGN ^ salt)), index, index + 1)
      index++
    } else if (kind === IDEOGRAPH) {
      if (!isPayload && words < OPENING_IDEOGRAPHS) take(bucketOf(mix(code, OPENING)), index, index + 1)
      takeIdeographs(text, index, salt, take)
      previous = 0
      words++
      index++
    } else {
      const end = wordEnd(text, index)
      const hash = takeWord(text, index, end, salt, take)
      if (!isPayload) {
        if (words < OPENING_WORDS) take(bucketOf(mix(hash, OPENING + words)), index, end)
        if (previous !== 0) take(bucketOf(mix(hash ^ Math.imul(previous, 31), PAIR)), index, end)
      }
      previous = hash
      words++
      index = end
    }
  }
}

/** Scripts without spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), and Korean, whose words change at the end. */
export function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7af) ||
    (code >= 0x0e00 && code <= 0x0eff) ||
    (code >= 0x1000 && code <= 0x109f) ||
    (code >= 0x1780 && code <= 0x17ff)
  )
}

function takeWord(text: string, start: number, end: number, salt: number, take: BucketTaker): number {
  let hash = SEED
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ folded(text, index), PRIME)
  take(bucketOf(mix(hash, WORD ^ salt)), start, end)
  if (salt !== 0 || end - start <= PIECE_CHARS) return hash
  // Includes the spaces around the word, so that its beginning differs from the same letters in the middle.
  for (let from = start - 1; from + PIECE_CHARS <= end + 1; from++) {
    let piece = SEED
    for (let index = from; index < from + PIECE_CHARS; index++) {
      piece = Math.imul(piece ^ (index < start || index >= end ? 1 : folded(text, index)), PRIME)
    }
    take(bucketOf(mix(piece, PIECE)), start, end)
  }
  return hash
}

function takeIdeographs(text: string, index: number, salt: number, take: BucketTaker): void {
  let hash = SEED
  for (let length = 1; length <= MAX_IDEOGRAPHS && index + length <= text.length; length++) {
    const code = text.charCodeAt(index + length - 1)
    if (KIND[code] !== IDEOGRAPH) return
    hash = Math.imul(hash ^ code, PRIME)
    if (length > 1 || salt === 0) take(bucketOf(mix(hash, WORD ^ salt)), index, index + length)
  }
}

function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_WORD_CHARS)
  let end = start + 1
  while (end < limit && KIND[text.charCodeAt(end)] === LETTER) end++
  return end
}

function folded(text: string, index: number): number {
  return FOLDED[text.charCodeAt(index)] ?? 0
}

function mix(hash: number, salt: number): number {
  let mixed = Math.imul(hash ^ salt, PAIR)
  mixed ^= mixed >>> 13
  return Math.imul(mixed, PIECE)
}

function bucketOf(hash: number): number {
  return hash >>> SHIFT
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if (code <= 0x20) return GAP
    return /[a-z0-9_']/i.test(String.fromCharCode(code)) ? LETTER : MARK
  }
  if (code === 0xa0 || code === 0x3000 || (code >= 0x2000 && code <= 0x200f)) return GAP
  if (isIdeograph(code)) return IDEOGRAPH
  const isMark = code < 0xc0 || (code >= 0x2010 && code <= 0x2bff) || (code >= 0x3001 && code <= 0x303f)
  return isMark || (code >= 0xff00 && code <= 0xff65) ? MARK : LETTER
}

function foldedOf(code: number): number {
  if (code >= 48 && code <= 57) return 48
  if (code >= 65 && code <= 90) return code + 32
  // Capitals of Latin-1, Greek and Cyrillic.
  const isCapital =
    (code >= 0xc0 && code <= 0xde) || (code >= 0x391 && code <= 0x3a9) || (code >= 0x410 && code <= 0x42f)
  return isCapital ? code + 32 : code
}
