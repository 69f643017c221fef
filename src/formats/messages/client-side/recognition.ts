/** By what a messages request is known: its path, the version that its clients name, and fields that only it has. */
import type { Recognition } from '@/formats/format'
import { VERSION_HEADER } from '@/formats/messages/version'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** Fields that only a messages body has. `thinking` is not among them: chat-completions providers take a field of that name, too. */
const OWN_FIELDS = ['system', 'stop_sequences', 'output_config'] as const
const OWN_PARTS: ReadonlySet<string> = new Set(['image', 'document', 'tool_use', 'tool_result', 'thinking'])

export const recognition: Recognition = {
  headers: [VERSION_HEADER],
  keyHeaders: ['x-api-key'],
  isOwnPath: (path) => /^\/(v1\/)*messages(\/|$)/.test(path),
  isOwnBody(body, headers) {
    return headers.has(VERSION_HEADER) || OWN_FIELDS.some((name) => name in body) || hasOwnParts(body)
  },
}

function hasOwnParts({ tools, messages }: JsonObject): boolean {
  const entries = [tools, messages].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isJsonObject)
  const parts = entries.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(isJsonObject)
  return entries.some((entry) => 'input_schema' in entry) || parts.some(({ type }) => OWN_PARTS.has(textOf(type) ?? ''))
}
