/** Converts the arguments and ids of tool calls for messages providers. */
import { sha256Hex } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, parseAsWritten } from '@/lib/json-source/as-written'

/** The key for arguments that are no JSON object, which clients and providers would fail to parse. */
const INVALID_ARGUMENTS = 'invalid_arguments'

/** The JSON text of a tool's input. */
export function decodeArguments(input: JsonValue | undefined): string {
  return JSON.stringify(asWritten(input) ?? {})
}

/** Arguments as the required object: '' means none, and a text that is no JSON object is wrapped. */
export function encodeArguments(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseObject(text) ?? { [INVALID_ARGUMENTS]: text })
}

/** Arguments as the JSON text of an object; unchanged if they already are. */
export function legaliseArguments(text: string): string {
  return parseObject(text) ? text : JSON.stringify(encodeArguments(text))
}

function parseObject(text: string): JsonObject | undefined {
  const value = parseAsWritten(text)
  return isJsonObject(value) ? value : undefined
}

/** Tool call ids that the API accepts: letters, digits, `_` and `-`. */
const LEGAL = /^[a-zA-Z0-9_-]+$/
const ILLEGAL_CHARACTERS = /[^a-zA-Z0-9_-]/g
const MAX_CHARS = 128
const KEPT_CHARS = 48
const DIGEST_CHARS = 8

/** A valid id, always the same for the same `id`; valid ids are unchanged. Different ids stay different. */
function encodeToolId(id: string): string {
  if (LEGAL.test(id) && id.length <= MAX_CHARS) return id
  const clean = id.replace(ILLEGAL_CHARACTERS, '_').slice(0, KEPT_CHARS)
  return `${clean || 'toolu'}_${sha256Hex(id).slice(0, DIGEST_CHARS)}`
}

/** Returns a valid id for each call; a repeated id gets a new id. Constant time per call. */
export function createToolIds(): (id: string) => string {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    const base = encodeToolId(id)
    let unique = base
    while (used.has(unique)) {
      const count = (counts.get(base) ?? 1) + 1
      counts.set(base, count)
      unique = `${base}_${count}`
    }
    used.add(unique)
    return unique
  }
}
