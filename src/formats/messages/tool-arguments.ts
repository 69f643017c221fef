/** The arguments of a tool call: an object on the messages wire, JSON text in the hub. */

import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, parseAsWritten } from '@/lib/json-source/as-written'

/** The name under which arguments that are no JSON object travel, so that neither client nor provider chokes on them. */
const INVALID_ARGUMENTS = 'invalid_arguments'

/** The JSON text of a tool's input. */
export function decodeArguments(input: JsonValue | undefined): string {
  return JSON.stringify(asWritten(input) ?? {})
}

/** Tool arguments as the object that the format demands: '' is no arguments, and what is no JSON object is wrapped. */
export function encodeArguments(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseObject(text) ?? { [INVALID_ARGUMENTS]: text })
}

/** Tool arguments as JSON text of an object: the same text where it is that already. */
export function legaliseArguments(text: string): string {
  return parseObject(text) ? text : JSON.stringify(encodeArguments(text))
}

function parseObject(text: string): JsonObject | undefined {
  const value = parseAsWritten(text)
  return isJsonObject(value) ? value : undefined
}
