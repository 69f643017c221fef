/**
 * Refuses the names by which JavaScript makes a text of an object: the framework does that where it says that a value does not
 * fit, and a body that redefines them would make it fail.
 */
import { invalidRequest } from '@/chat/error'
import type { JsonValue } from '@/lib/json'

const CONVERSIONS: ReadonlySet<string> = new Set(['toString', 'valueOf'])

/** Throws `invalid_request` for a body with such a name at any depth, which is bounded by whoever has read it. */
export function refuseConversions(value: JsonValue | undefined): void {
  if (typeof value !== 'object' || value === null) return
  // The names of an array are numbers.
  for (const [name, item] of Object.entries(value)) {
    if (CONVERSIONS.has(name)) throw invalidRequest(`The body must not hold a field of the name ${name}.`, name)
    refuseConversions(item)
  }
}
