/** The schema of responses requests: known fields are typed, unknown ones kept; `null` counts as missing. */

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { fallbackSchema, preferencesSchema } from '@/formats/preferences'
import { LIMITS } from '@/formats/responses/limits'
import { routingSchemas } from '@/formats/routing-words'
import { createSchemaCheck } from '@/formats/schema-check'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { object, oneOf, optional, titled } from '@/lib/schemas'

/** An object with unknown fields. */
const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}, { description: 'an object' }))
const NonEmptyString = Type.String({ minLength: 1 })

/** A part of a message's content or a tool's output. Some clients use the names of chat-completions. */
const Part = object({
  type: Type.String({ description: 'input_text, input_image, input_file, input_audio, output_text or refusal' }),
  text: optional(Type.String()),
  refusal: optional(Type.String()),
  image_url: optional(Type.Union([Type.String(), object({ url: Type.String(), detail: optional(Type.String()) })])),
  detail: optional(Type.String()),
  file_id: optional(Type.String()),
  file_url: optional(Type.String()),
  file_data: optional(Type.String()),
  filename: optional(Type.String()),
  input_audio: optional(object({ data: Type.String(), format: Type.String() })),
  prompt_cache_breakpoint: optional(AnyObject),
})

const Content = Type.Union([Type.String(), Type.Array(Part, LIMITS.parts)], {
  description: 'a string or an array of parts, each with a type',
})

const Message = object({
  role: oneOf(['user', 'assistant', 'system', 'developer'], { description: 'user, assistant, system or developer' }),
  content: Content,
})

const FunctionCall = object({
  call_id: NonEmptyString,
  name: NonEmptyString,
  namespace: optional(Type.String()),
  arguments: optional(Type.Union([Type.String(), AnyObject], { description: 'a string of JSON' })),
})

const CustomToolCall = object({
  call_id: NonEmptyString,
  name: NonEmptyString,
  namespace: optional(Type.String()),
  input: optional(Type.String()),
})

const CallOutput = object({ call_id: optional(Type.String()), output: Content })

const ReasoningTexts = Type.Array(
  object({ type: optional(Type.String()), text: optional(Type.String()) }),
  LIMITS.parts,
)
const Reasoning = object({
  id: optional(Type.String()),
  summary: optional(ReasoningTexts),
  content: optional(ReasoningTexts),
  encrypted_content: optional(Type.String()),
})

const ImageGenerationCall = object({ result: optional(Type.String()), output_format: optional(Type.String()) })

const AdditionalTools = object({ tools: Type.Array(object({ type: NonEmptyString }), LIMITS.tools) })

const AgentMessage = object({
  content: optional(Content),
  message: optional(Type.String()),
  text: optional(Type.String()),
})

/** An item that changes the effort or output shape for the following turns. */
const ConfigurationUpdate = object({
  reasoning: optional(object({ effort: optional(Type.String()) })),
  text: optional(object({ format: optional(AnyObject) })),
})

const ItemReference = object({ id: NonEmptyString })

/** Items with a meaning in every format, by type. */
export const ITEMS = {
  message: Message,
  function_call: FunctionCall,
  function_call_output: CallOutput,
  custom_tool_call: CustomToolCall,
  custom_tool_call_output: CallOutput,
  reasoning: Reasoning,
  image_generation_call: ImageGenerationCall,
  additional_tools: AdditionalTools,
  agent_message: AgentMessage,
  configuration_update: ConfigurationUpdate,
  item_reference: ItemReference,
} as const

/** Any item: its type selects the schema, so that an error names the faulty field. */
const AnyItem = object({
  type: optional(Type.String({ description: 'default: message' })),
  role: optional(Type.String()),
  call_id: optional(Type.String()),
})

export type WireItemType = keyof typeof ITEMS
export type WireItem<T extends WireItemType = WireItemType> = { [K in T]: Static<(typeof ITEMS)[K]> }[T]
export type WireAnyItem = Static<typeof AnyItem>
export type WirePart = Static<typeof Part>
export type WireContent = Static<typeof Content>

const NamedTool = object({
  type: Type.String({ minLength: 1, description: 'function, custom, namespace, or a tool that a provider knows' }),
})

const TextFormat = object({
  type: Type.String({ description: 'text, json_object or json_schema' }),
  name: optional(Type.String()),
  description: optional(Type.String()),
  schema: optional(AnyObject),
  strict: optional(Type.Boolean()),
})

export const ResponsesRequest = titled('ResponsesRequest', {
  model: Type.String({ ...LIMITS.modelChars, description: 'A model or tier from GET /v1/models' }),
  input: optional(
    Type.Union([Type.String(), Type.Array(AnyItem, LIMITS.items)], { description: 'a string or an array of items' }),
  ),
  instructions: optional(Type.String({ description: 'The system prompt of only this request' })),
  previous_response_id: optional(Type.String({ description: 'The stored answer that this request continues' })),
  store: optional(Type.Boolean()),
  include: optional(Type.Array(Type.String(), LIMITS.include)),
  stream: optional(Type.Boolean({ default: false, description: 'true answers with server-sent events' })),
  stream_options: optional(AnyObject),
  background: optional(Type.Boolean({ description: 'Only false: answers are not made in the background here' })),
  max_output_tokens: optional(Type.Integer(LIMITS.outputTokens)),
  max_tool_calls: optional(Type.Integer(LIMITS.toolCalls)),
  temperature: optional(Type.Number({ ...LIMITS.temperature, default: 1 })),
  top_p: optional(Type.Number({ ...LIMITS.topP, default: 1 })),
  top_logprobs: optional(Type.Integer(LIMITS.topLogprobs)),
  reasoning: optional(
    object({
      effort: optional(Type.String({ description: 'none, minimal, low, medium, high, xhigh or max' })),
      summary: optional(Type.String({ description: 'auto, concise or detailed' })),
      generate_summary: optional(Type.String()),
    }),
  ),
  text: optional(object({ format: optional(TextFormat), verbosity: optional(Type.String()) })),
  tools: optional(Type.Array(NamedTool, LIMITS.tools)),
  tool_choice: optional(Type.Union([Type.String(), AnyObject])),
  parallel_tool_calls: optional(Type.Boolean()),
  metadata: optional(
    Type.Record(Type.String(), Type.String(LIMITS.metadataValueChars), {
      ...LIMITS.metadataPairs,
      description: 'an object of texts',
    }),
  ),
  prompt_cache_key: optional(Type.String()),
  prompt_cache_retention: optional(Type.String()),
  prompt_cache_options: optional(AnyObject),
  safety_identifier: optional(Type.String()),
  user: optional(Type.String()),
  service_tier: optional(Type.String()),
  truncation: optional(Type.String()),
  svc: optional(preferencesSchema()),
  ...routingSchemas(LIMITS),
  fallbacks: optional(fallbackSchema(LIMITS)),
  fallback: optional(fallbackSchema(LIMITS)),
})

export type WireRequest = Static<typeof ResponsesRequest>

/** Validates a body. Throws a GatewayError `invalid_request` that names the first faulty field. */
export function checkRequest(body: JsonObject): WireRequest {
  check(ResponsesRequest, body, '')
  return body as unknown as WireRequest
}

/** The type of an item; without a type but with a role, it is a message. */
export function typeOfItem({ type, role }: WireAnyItem): string {
  return type ?? (role === undefined || role === null ? '' : 'message')
}

/** Whether the hub supports items of `type`. */
export function isKnownType(type: string): type is WireItemType {
  return Object.hasOwn(ITEMS, type)
}

/** Validates an item of the given `type`. Throws like {@link checkRequest}; `path` is the item's place. */
export function checkItem<T extends WireItemType>(type: T, item: WireAnyItem, path: string): WireItem<T> {
  check(ITEMS[type], item, path)
  return item as unknown as WireItem<T>
}

const check = createSchemaCheck({ isMeant, word: String })

/** Whether a union's variant has the value's JSON type. Constants never match: an error about a constant would mislead. */
function isMeant({ type, const: word }: TSchema, value: unknown): boolean {
  if (word !== undefined) return false
  if (Array.isArray(value)) return type === 'array'
  if (isJsonObject(value)) return type === 'object'
  return typeof value === 'number' ? type === 'number' || type === 'integer' : typeof value === type
}
