/** Converts the arguments and ids of tool calls for generate-content providers. */
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, parseAsWritten } from '@/lib/json-source/as-written'

/** The JSON text of a call's arguments; '' if there are none. */
export function decodeArguments(given: JsonValue | undefined): string {
  return given === undefined ? '' : JSON.stringify(asWritten(given))
}

/** Arguments as the object that this format requires. A text that is no JSON object becomes the object's field `input`. */
export function encodeArguments(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseAsWritten(text)
  return isJsonObject(value) ? value : { input: value ?? text }
}
