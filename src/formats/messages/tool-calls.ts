/** The calls of tools: their arguments, and ids that providers of messages take. */
import { sha256Hex } from '@/lib/ids'
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

/**
 * Tool-call ids that the messages format accepts: letters, digits, `_` and `-`, unique where the API wants them unique.
 */
const LEGAL = /^[a-zA-Z0-9_-]+$/
const ILLEGAL_CHARACTERS = /[^a-zA-Z0-9_-]/g
const MAX_CHARS = 128
const KEPT_CHARS = 48
const DIGEST_CHARS = 8

/** The same legal id for the same `id` every time; a legal one stays as it is. Different ids stay different. */
function encodeToolId(id: string): string {
  if (LEGAL.test(id) && id.length <= MAX_CHARS) return id
  const clean = id.replace(ILLEGAL_CHARACTERS, '_').slice(0, KEPT_CHARS)
  return `${clean || 'toolu'}_${sha256Hex(id).slice(0, DIGEST_CHARS)}`
}

/** Hands out a legal id for each call, a fresh one where the same was handed out before. Constant time per call. */
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
