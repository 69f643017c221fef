/** The arguments of a tool call: JSON text on the responses wire, as in the hub. */

import { isJsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

/** Arguments from the wire: JSON text, but some send the object itself. */
export function decodeArguments(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given
  return isJsonObject(given) ? JSON.stringify(asWritten(given)) : ''
}

/** Arguments for the wire: a call without any says `{}`, because clients and providers parse the text as JSON. */
export function encodeArguments(text: string): string {
  return text.trim() === '' ? '{}' : text
}
