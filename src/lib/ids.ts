/** Random identifiers, numbers in base62, and digests of texts. */
import { hash, randomBytes } from 'node:crypto'
import { assert } from './assert'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 62 in a byte; larger bytes are discarded so that every character is equally likely. */
const UNBIASED_LIMIT = 248

/** `length` characters of 0-9A-Za-z from the system's secure random source, unbiased (5.95 bits each). */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < UNBIASED_LIMIT && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

/** `prefix` + `_` + 22 random base62 characters (131 bits), for example `acct_…`. */
export function randomId(prefix: string): string {
  return `${prefix}_${randomBase62(22)}`
}

/** A non-negative integer in base62, padded with zeros to `length` characters. Asserts that it fits. */
export function toBase62(value: number, length: number): string {
  assert(Number.isSafeInteger(value) && value >= 0, `no base62 for ${value}`)
  let text = ''
  let rest = value
  for (let index = 0; index < length; index++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  assert(rest === 0, `${value} needs more than ${length} base62 characters`)
  return text
}

/** SHA-256 of `text` as 64 lower-case hexadecimal characters. */
export function sha256Hex(text: string): string {
  return hash('sha256', text)
}
