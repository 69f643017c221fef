/** Types for JSON values, and functions to read unknown values safely. */
import { inspectJson, type JsonBounds } from '@/lib/json-source/scan'

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue | undefined }

/** JSON's functions for raw texts, which the compiler's typings lack. */
export const rawJson = JSON as typeof JSON & {
  /** An object that stringify writes as `text`. */
  rawJSON(text: string): JsonObject
  isRawJSON(value: unknown): boolean
}

/** Whether `value` is a JSON object: not null, not an array, not a raw number (json-source/as-written.ts). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !rawJson.isRawJSON(value)
}

/** The number of object fields in `value`, at all depths. */
export function countFields(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Array.isArray(value) ? value : Object.values(value)
  let fields = Array.isArray(value) ? 0 : inside.length
  for (const item of inside) if (typeof item === 'object') fields += countFields(item)
  return fields
}

/** `value` if it is a string, otherwise undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Limits for parsing any JSON: deep values take seconds to serialise, millions of values seconds to parse. */
export const PARSED_BOUNDS: JsonBounds = { depth: 1000, values: 4_000_000 }

/** Limits for parsing a text inside a caller's body: as many values and names as in the body itself. */
export const TEXT_BOUNDS = { depth: 1000, values: 100_000, names: 10_000 } as const satisfies JsonBounds

/** Parses `text`. Undefined if it isn't JSON or exceeds {@link PARSED_BOUNDS}. */
export function parseJson(text: string): JsonValue | undefined {
  return exceedsBounds(text, PARSED_BOUNDS) ? undefined : parseWithinBounds(text)
}

/** Parses a text that is known to be within the limits. */
export function parseWithinBounds(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Whether JSON in `text` exceeds `bounds`. Does not scan texts that are too short for that. */
function exceedsBounds(text: string, bounds: JsonBounds): boolean {
  // Each level takes two brackets, each value a character and a separator.
  if (text.length <= 2 * Math.min(bounds.depth, bounds.values)) return false
  return inspectJson(text, bounds).breach !== undefined
}

/** A copy of `object` with `change` applied to each string except field names. */
export function mapTexts(object: JsonObject, change: (text: string) => string): JsonObject {
  const mapped = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(mapped)
    return isJsonObject(value) ? mapTexts(value, change) : value
  }
  const fields = Object.entries(object).flatMap(([name, value]) => (value === undefined ? [] : [[name, mapped(value)]]))
  return Object.fromEntries(fields)
}
