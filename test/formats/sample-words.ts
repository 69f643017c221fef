/** The words in which the samples of fields are written, and what every request holds beside one. */
import type { FormatName } from '@/chat/format-name'
import type { JsonObject, JsonValue } from '@/lib/json'

/** What a request holds beside the field. */
export type Overlay = { [field: string]: JsonValue | undefined }
/** The field's value; or, where it stands inside others, a body with it and the same without. */
export type Sample = { value: JsonValue; beside?: Overlay } | { body: Overlay; without: Overlay }

export const PARAMETERS = { type: 'object', properties: { zone: { type: 'string' } } }
export const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const DATA_URL = `data:image/png;base64,${PIXEL}`
export const EPHEMERAL = { type: 'ephemeral' }
export const NO_TOOLS: Overlay = { tools: undefined }

/** What every request of the format holds: a tool to speak of, and room to think. */
export const BASE: Record<FormatName, JsonObject> = {
  'chat-completions': {
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9_000,
    tools: [{ type: 'function', function: { name: 'now', parameters: PARAMETERS } }],
  },
  messages: {
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9_000,
    tools: [{ name: 'now', input_schema: PARAMETERS }],
  },
  'generate-content': {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: PARAMETERS }] }],
  },
  responses: {
    input: [{ role: 'user', content: 'Hi' }],
    max_output_tokens: 9_000,
    tools: [{ type: 'function', name: 'now', parameters: PARAMETERS, strict: false }],
  },
}

/** A sample of each field by its name. */
export function values(fields: Record<string, JsonValue>): Record<string, Sample> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }]))
}

/** Likewise, of fields of `generationConfig`. */
export function inConfig(fields: Record<string, JsonValue>): Record<string, Sample> {
  return Object.assign({}, ...Object.entries(fields).map(([name, value]) => besideInConfig(name, value, {})))
}

/** One that needs others beside it there. */
export function besideInConfig(name: string, value: JsonValue, beside: JsonObject): Record<string, Sample> {
  const without = Object.keys(beside).length > 0 ? { generationConfig: beside } : {}
  return { [`generationConfig.${name}`]: pair({ generationConfig: { ...beside, [name]: value } }, without) }
}

/** A field that stands inside others. */
export function pair(body: Overlay, without: Overlay): Sample {
  return { body, without }
}

/** Messages that are a document, with `more` said of it. */
export function document(more: JsonObject): Overlay {
  const source = { type: 'text', media_type: 'text/plain', data: 'A manual' }
  return { messages: [{ role: 'user', content: [{ type: 'document', source, ...more }] }] }
}
