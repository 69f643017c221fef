/** The arguments of a tool call: JSON text on the responses wire, as in the hub; those of a custom tool are free text. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
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

/** What the hub has as the parameters of a custom tool. */
export const CUSTOM_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** A custom tool's free text as the arguments of a function with one text parameter. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}

/** The free text out of such arguments; of a model that did not keep to their form, all that it wrote. */
export function customInput(argumentsText: string): string {
  const value = parseJson(argumentsText)
  if (isJsonObject(value) && typeof value.input === 'string') return value.input
  return typeof value === 'string' ? value : argumentsText
}
