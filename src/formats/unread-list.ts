/** Tells whether the long list of an answer is one of vectors, without reading it. */
import type { VectorEncoding } from '@/chat/embedding'

/** What numbers are not in JSON, although some servers write it, and vectors without any. */
const NO_NUMBERS = ['NaN', 'Infinity', 'null', '[]', '[ ]']
/** The same of vectors that are texts. */
const NO_TEXT = ['""', ':null', ': null']

/** A number with what white space may stand around it. */
const MAX_NUMBER_CHARS = 64

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
