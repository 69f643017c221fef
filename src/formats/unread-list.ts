/** Finds the long list of vectors in an answer without reading it. */
import type { VectorEncoding } from '@/chat/embedding'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** What stands around the list, as an object in which the list is empty, and the bytes between its brackets. */
type UnreadList = { around: JsonObject; inside: Uint8Array }

const OPENING = 0x5b
const CLOSING = 0x5d
const MAX_AROUND_BYTES = 64 * 1024
/** What numbers are not in JSON, although some servers write it, and vectors without any. */
const NO_NUMBERS = ['NaN', 'Infinity', 'null', '[]', '[ ]']
/** The same of vectors that are texts. */
const NO_TEXT = ['""', ':null', ': null']

/** A number with what white space may stand around it. */
const MAX_NUMBER_CHARS = 64

const decoder = new TextDecoder()

/** What may be the list at `field` in `bytes`: see {@link holdsVectors}. Undefined where it is surely none. */
export function findUnreadList(bytes: Uint8Array, field: string): UnreadList | undefined {
  const start = bytes.indexOf(OPENING)
  const end = bytes.lastIndexOf(CLOSING)
  if (start === -1 || end < start || start + bytes.length - end > MAX_AROUND_BYTES) return undefined
  const text = `${decoder.decode(bytes.subarray(0, start))}[]${decoder.decode(bytes.subarray(end + 1))}`
  const around = parseJson(text)
  if (!isJsonObject(around)) return undefined
  const list = around[field]
  if (!Array.isArray(list) || list.length > 0) return undefined
  return { around, inside: bytes.subarray(start + 1, end) }
}

/** What every vector of a list stands behind, how many there are to be, and written how. */
type VectorsSought = { key: string; count: number; encoding: VectorEncoding }

/** Whether the list holds as many vectors as it should, each a list of numbers, and nothing else. */
export function holdsVectors(inside: Uint8Array, { key, count, encoding }: VectorsSought): boolean {
  const buffer = Buffer.from(inside.buffer, inside.byteOffset, inside.byteLength)
  const lists = encoding === 'float' ? count : 0
  if (countIn(buffer, key) !== count || countIn(buffer, '[') !== lists || countIn(buffer, ']') !== lists) return false
  return !(encoding === 'float' ? NO_NUMBERS : NO_TEXT).some((word) => buffer.includes(word))
}

function countIn(buffer: Buffer, text: string): number {
  let count = 0
  for (let at = buffer.indexOf(text); at !== -1; at = buffer.indexOf(text, at + text.length)) count++
  return count
}

/** Whether the entries, as far as they are numbered, are so from 0 on: then the list is in the order that its numbers say. */
export function isNumberedInOrder(inside: Uint8Array, key: string, count: number): boolean {
  const buffer = Buffer.from(inside.buffer, inside.byteOffset, inside.byteLength)
  let numbered = 0
  for (let at = buffer.indexOf(key); at !== -1; at = buffer.indexOf(key, at + key.length)) {
    const start = at + key.length
    const number = /^\s*(\d+)\s*[,}]/.exec(buffer.toString('latin1', start, start + MAX_NUMBER_CHARS))?.[1]
    if (number !== String(numbered)) return false
    numbered++
  }
  return numbered === 0 || numbered === count
}
