/** The calls of tools: their arguments, and ids that providers of generate-content take. */
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, parseAsWritten } from '@/lib/json-source/as-written'

/** The JSON text of a call's arguments; '' where it has none. */
export function decodeArguments(given: JsonValue | undefined): string {
  return given === undefined ? '' : JSON.stringify(asWritten(given))
}

/** Arguments as the object this format demands. Text that is no JSON object is kept as its `input`. */
export function encodeArguments(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseAsWritten(text)
  return isJsonObject(value) ? value : { input: value ?? text }
}
