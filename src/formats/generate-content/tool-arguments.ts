/** The arguments of a function call: an object on this format's wire, JSON text in the hub. */
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** Arguments as the object this format demands. Text that is no JSON object is kept as its `input`. */
export function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return isJsonObject(value) ? value : { input: value ?? text }
}
