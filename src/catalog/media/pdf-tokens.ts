/**
 * The most tokens that a PDF can be, read from its plain bytes. Nothing that it says of itself is trusted: pages are what its page
 * tree names, and text what its streams unpack to. Where either can be hidden or used twice, the answer is infinity: any context.
 */
import { inflateSync } from 'node:zlib'

/** A full page of dense text, up to 3,000 tokens, and its picture, up to 5,000 where a model looks closely. */
export const PAGE_TOKENS_MAX = 8_000
/** Unpacked bytes for one token of text: each comes as an operand, with operators and positions around it. */
const UNPACKED_BYTES_PER_TOKEN = 2
/** For each stream, so that the work of unpacking many tiny ones is in proportion to what is reserved. */
const STREAM_TOKENS = 100

/** White space of PDF, which is not that of JavaScript. */
const SPACE = '[\\0\\t\\n\\f\\r ]'
/** What may hide pages or text: object streams, repeated content, encryption, unknown filters, scripts, escaped names. */
const HIDDEN =
  /\/(?:ObjStm|XRef|Encrypt|XFA|LZW|RunLength|ASCII|A85|AHx|(?:Form|RL)(?![A-Za-z])|[A-Za-z]{0,12}#[4-7][0-9A-Fa-f])/
const PAGE = /\/Page(?![A-Za-z])/g
const FLATE = /\/Fl(?:ateDecode)?(?![A-Za-z])/g
const ARRAY_OBJECT = new RegExp(`(\\d{1,10})${SPACE}{1,9}\\d{1,5}${SPACE}{1,9}obj${SPACE}*\\[`, 'g')
const REFERENCE = new RegExp(`${SPACE}*(\\d{1,10})${SPACE}+\\d{1,5}${SPACE}+R`, 'y')
const OPENING = new RegExp(`${SPACE}*\\[`, 'y')
const CLOSING = new RegExp(`${SPACE}*\\]`, 'y')
const STRING = new RegExp(`${SPACE}*[(<]`, 'y')
const STREAM_START = /[ \t]*(?:\r\n|\n|\r)?/y

/** The most tokens of the file; infinity where its structure does not tell, or where they are more than `most`. Linear in its size. */
export function pdfTokens(bytes: Buffer, most: number): number {
  const text = bytes.toString('latin1')
  if (HIDDEN.test(text)) return Number.POSITIVE_INFINITY
  const pages = countPages(text)
  if (pages === undefined || !isDrawnOnce(text)) return Number.POSITIVE_INFINITY
  const room = most - pages * PAGE_TOKENS_MAX - bytes.length
  if (room < 0) return Number.POSITIVE_INFINITY
  const inStreams = streamTokens(bytes, text, room)
  return inStreams === undefined ? Number.POSITIVE_INFINITY : pages * PAGE_TOKENS_MAX + bytes.length + inStreams
}

/** No more than these: whatever the page tree names, nodes included, or whatever looks like a page. Undefined where one is named twice. */
function countPages(text: string): number | undefined {
  const kids = new Set<string>()
  for (const at of placesOf(text, '/Kids')) {
    const list = readList(text, at)
    if (!list || !addAll(kids, list)) return undefined
  }
  return kids.size === 0 ? undefined : Math.max(kids.size, countMatches(text, PAGE))
}

/** Whether no two pages share their content. */
function isDrawnOnce(text: string): boolean {
  const contents = new Set<string>()
  for (const at of placesOf(text, '/Contents')) {
    // Notes on a page have their words there.
    if (matchAt(STRING, text, at)) continue
    const one = matchAt(REFERENCE, text, at)
    const list = one ? [one[1] as string] : readList(text, at)
    if (!list || !addAll(contents, list)) return false
  }
  for (const [, id] of text.matchAll(ARRAY_OBJECT)) if (contents.has(numberOf(id as string))) return false
  return true
}

/** What the packed streams unpack to, in tokens. Undefined where one is not whole, or they are more than `room`. */
function streamTokens(bytes: Buffer, text: string, room: number): number | undefined {
  let tokens = 0
  let end = 0
  for (;;) {
    const keyword = text.indexOf('stream', end)
    if (keyword === -1) return tokens
    const start = keyword + 'stream'.length + (matchAt(STREAM_START, text, keyword + 'stream'.length)?.[0].length ?? 0)
    const next = text.indexOf('stream', start)
    // Whatever stands between two of these words belongs to one stream, or one is hidden in another.
    if (next === -1 || text.endsWith('end', keyword) || !text.endsWith('end', next)) return undefined
    const filters = countMatches(text.slice(end, keyword), FLATE)
    const isPacked = isZlib(bytes, start)
    if (filters > 1 || (filters === 1 && !isPacked)) return undefined
    if (isPacked) {
      const unpacked = unpackedBytes(bytes.subarray(start, next), (room - tokens) * UNPACKED_BYTES_PER_TOKEN)
      if (unpacked === undefined) return undefined
      tokens += Math.ceil(unpacked / UNPACKED_BYTES_PER_TOKEN) + STREAM_TOKENS
    }
    end = next + 'stream'.length
  }
}

function unpackedBytes(packed: Buffer, most: number): number | undefined {
  if (most < 1) return undefined
  try {
    return inflateSync(packed, { maxOutputLength: Math.floor(most) }).length
  } catch {
    return undefined
  }
}

function isZlib(bytes: Buffer, at: number): boolean {
  const [first = 0, second = 0] = bytes.subarray(at, at + 2)
  return (first & 0x0f) === 8 && first >> 4 <= 7 && (first * 256 + second) % 31 === 0
}

/** The numbers of the objects that an array at `at` refers to. Undefined where there is no array, or something else is in it. */
function readList(text: string, at: number): string[] | undefined {
  const opening = matchAt(OPENING, text, at)
  if (!opening) return undefined
  const list: string[] = []
  let place = at + opening[0].length
  for (;;) {
    const reference = matchAt(REFERENCE, text, place)
    if (!reference) return matchAt(CLOSING, text, place) ? list : undefined
    list.push(reference[1] as string)
    place += reference[0].length
  }
}

/** False where one was there already. */
function addAll(known: Set<string>, ids: readonly string[]): boolean {
  for (const id of ids) {
    const number = numberOf(id)
    if (known.has(number)) return false
    known.add(number)
  }
  return true
}

function numberOf(digits: string): string {
  return String(Number(digits))
}

function placesOf(text: string, name: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const end = at + name.length
    if (!/[A-Za-z0-9]/.test(text.charAt(end))) places.push(end)
  }
  return places
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
