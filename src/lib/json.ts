/** JSON values as types, and reading them without trusting their shape or depth. */
import { inspectJson, type JsonBounds } from '@/lib/json-source/scan'

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue | undefined }

/** What JSON has for values as they are written, which the compiler's own typings lack. */
export const rawJson = JSON as typeof JSON & {
  /** An object that stringify writes as `text`. */
  rawJSON(text: string): JsonObject
  isRawJSON(value: unknown): boolean
}

/** Whether `value` is a JSON object: not null, not an array, not a number as it was written (json-source/as-written.ts). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !rawJson.isRawJSON(value)
}

/** How many fields the objects of `value` have, at all depths. */
export function countFields(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Array.isArray(value) ? value : Object.values(value)
  let fields = Array.isArray(value) ? 0 : inside.length
  for (const item of inside) if (typeof item === 'object') fields += countFields(item)
  return fields
}

/** `value` where it is a text, else undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The largest JSON that is parsed: deep values take seconds to serialise, millions of values seconds to parse. */
export const PARSED_BOUNDS: JsonBounds = { depth: 1000, values: 4_000_000 }

/** What is parsed at most of a text inside a caller's body: as many values and names as of the body itself. */
export const TEXT_BOUNDS = { depth: 1000, values: 100_000, names: 10_000 } as const satisfies JsonBounds

/** Parses `text`, or returns undefined if it is not JSON or holds more than {@link PARSED_BOUNDS}. */
export function parseJson(text: string): JsonValue | undefined {
  return exceedsBounds(text, PARSED_BOUNDS) ? undefined : parseWithinBounds(text)
}

/** The same for a text that is known to hold no more. */
export function parseWithinBounds(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Whether `text`, if it is JSON, holds more than `bounds`. Costs nothing for a text that is too short for that. */
function exceedsBounds(text: string, bounds: JsonBounds): boolean {
  // Each level takes two brackets, each value a character and what parts it from the next.
  if (text.length <= 2 * Math.min(bounds.depth, bounds.values)) return false
  return inspectJson(text, bounds).breach !== undefined
}

/** The object with each text in it, names of fields aside, as `change` has it. */
export function mapTexts(object: JsonObject, change: (text: string) => string): JsonObject {
  const mapped = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(mapped)
    return isJsonObject(value) ? mapTexts(value, change) : value
  }
  const fields = Object.entries(object).flatMap(([name, value]) => (value === undefined ? [] : [[name, mapped(value)]]))
  return Object.fromEntries(fields)
}
