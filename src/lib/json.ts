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

/** How much one JSON text may hold: arrays and objects inside each other, and values in all. */
type JsonBounds = { depth: number; values: number }

/**
 * What is parsed at most, whoever wrote it. A value nested 60,000 deep is parsed in no time, but takes seconds (and then the
 * stack) to become text again; and a few million values are all that can be parsed in a second.
 */
export const PARSED_BOUNDS: JsonBounds = { depth: 1000, values: 4_000_000 }

/** Parses `text`, or returns undefined where it is not JSON or holds more than {@link PARSED_BOUNDS}. */
export function parseJson(text: string): JsonValue | undefined {
  if (exceedsBounds(text, PARSED_BOUNDS)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Whether `text`, if it is JSON, holds more than `bounds`. Costs nothing for a text that is too short for that. */
export function exceedsBounds(text: string, bounds: JsonBounds): boolean {
  // Each level takes two brackets, each value a character and what parts it from the next.
  if (text.length <= 2 * Math.min(bounds.depth, bounds.values)) return false
  return breachOf(Buffer.from(text), bounds) !== undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const COMMA = 0x2c

/** Strings shorter than this are walked: a search of the engine's own costs as much as about this many steps of ours. */
const NEAR_BYTES = 32

/**
 * Which of `bounds` the JSON text in `bytes` exceeds, if any. Runs before JSON.parse, whose recursion a body of 200,000 brackets
 * would exhaust. Linear in the number of bytes; where they are few and hold no more opening brackets than levels are allowed,
 * or mostly long strings, at the price of a search for one byte.
 */
export function breachOf(
  bytes: Uint8Array,
  { depth: maxDepth, values: maxValues }: JsonBounds,
): keyof JsonBounds | undefined {
  if (bytes.length <= 2 * maxValues && hasAtMostOpened(bytes, maxDepth)) return undefined
  let depth = 0
  let values = 1
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) index = endOfString(bytes, index + 1)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      values++
      if (++depth > maxDepth) return 'depth'
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
    else if (byte === COMMA) values++
    if (values > maxValues) return 'values'
  }
  return undefined
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
