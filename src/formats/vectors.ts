/** Converts vectors between numbers and base64 of little-endian 32-bit floats, the default of client libraries. */
import type { Vector, VectorEncoding } from '@/chat/embedding'
import type { JsonValue } from '@/lib/json'

const BYTES_PER_NUMBER = 4

/** The vector in the requested encoding, as JSON. */
export function vectorText(vector: Vector, encoding: VectorEncoding): string {
  if (encoding === 'base64') return `"${typeof vector === 'string' ? vector : packVector(vector)}"`
  return `[${(typeof vector === 'string' ? unpackVector(vector) : vector).join(',')}]`
}

/** `value` as a non-empty vector of finite 32-bit numbers; undefined for anything else. */
export function readVector(value: JsonValue | undefined): Vector | undefined {
  if (typeof value === 'string') return isPacked(value) ? value : undefined
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every(isFloat) ? (value as number[]) : undefined
}

function packVector(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
}

function unpackVector(text: string): number[] {
  return [...floatsIn(text)]
}

/** Copies the bytes, because a Float32Array must be aligned. */
function floatsIn(text: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer)
}

function isFloat(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isFinite(Math.fround(value))
}

/** The exponent bits of a 32-bit float. If all are set, the float is infinity or NaN. */
const NO_NUMBER = 0x7f80_0000

/** Whether `text` is base64 (padded or not) of finite numbers. There may be millions of numbers, so the loop calls no functions. */
function isPacked(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % BYTES_PER_NUMBER !== 0) return false
  // The decoder ignores invalid characters, so the text is compared with its decoded and re-encoded form.
  const padded = bytes.toString('base64')
  if (padded !== text && padded.replace(/=+$/, '') !== text) return false
  const numbers = new Uint32Array(new Uint8Array(bytes).buffer)
  for (let index = 0; index < numbers.length; index++)
    if (((numbers[index] ?? NO_NUMBER) & NO_NUMBER) === NO_NUMBER) return false
  return true
}

/** Invalid numbers that some servers write, and empty vectors. */
const NO_NUMBERS = ['NaN', 'Infinity', 'null', '[]', '[ ]']
/** JSON texts that cannot be in a list of vectors encoded as strings. */
const NO_TEXT = ['""', ':null', ': null']

/** Maximum length of a number and the white space around it. */
const MAX_NUMBER_CHARS = 64

/** The field before every vector of a list, the expected number of vectors, and their encoding. */
type VectorsSought = { key: string; count: number; encoding: VectorEncoding }

/** Whether the list contains exactly the expected number of vectors, and all of them consist of numbers. */
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

/** Whether the entries that have an index are numbered in order from 0. */
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
