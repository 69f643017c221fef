/** JSON values as types, and reading them without trusting their shape or depth. */

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue | undefined }

/** Whether `value` is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `value` where it is a text, else undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Parses `text`, or returns undefined where it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Strings shorter than this are walked: a search of the engine's own costs as much as about this many steps of ours. */
const NEAR_BYTES = 32

/**
 * Whether the JSON text in `bytes` nests arrays and objects deeper than `limit`.
 * Runs before JSON.parse, whose recursion a body of 200,000 brackets would exhaust. Linear in the number of bytes; where
 * they hold no more opening brackets than the limit, or mostly long strings, at the price of a search for one byte.
 */
export function isDeeperThan(bytes: Uint8Array, limit: number): boolean {
  if (hasAtMostOpened(bytes, limit)) return false
  let depth = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) index = endOfString(bytes, index + 1)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > limit) return true
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
  }
  return false
}

/** Whether so few brackets open, in strings or outside, that no depth beyond `limit` can come of them. */
function hasAtMostOpened(bytes: Uint8Array, limit: number): boolean {
  let opened = 0
  for (const bracket of [OPEN_BRACE, OPEN_BRACKET]) {
    for (let at = bytes.indexOf(bracket); at !== -1; at = bytes.indexOf(bracket, at + 1)) {
      if (++opened > limit) return false
    }
  }
  return true
}

/** Where the string that contains `from` (its opening quote lies before) has its closing quote; the end where it has none. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let index = from; index < bytes.length; ) {
    const farther = Math.min(index + NEAR_BYTES, bytes.length)
    for (; index < farther; index++) {
      const byte = bytes[index]
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) return index
    }
    const quote = bytes.indexOf(QUOTE, index)
    if (quote === -1) break
    let run = quote
    while (run > index && bytes[run - 1] === BACKSLASH) run--
    // Backslashes escape each other: after an odd number of them, the quote belongs to the string.
    if ((quote - run) % 2 === 0) return quote
    index = quote + 1
  }
  return bytes.length
}
