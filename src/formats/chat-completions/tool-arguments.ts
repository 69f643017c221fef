/** The arguments of a tool call: JSON text on this format's wire, as in the hub. */
import { isJsonObject, type JsonValue } from '@/lib/json'

/** What a call without arguments says, since clients parse the text. */
export const NO_ARGUMENTS = '{}'

/** Arguments are JSON text, but some providers send the object itself. */
export function readArguments(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given
  return isJsonObject(given) ? JSON.stringify(given) : ''
}

/** A custom tool's free text as the arguments of a function with one text parameter. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}
