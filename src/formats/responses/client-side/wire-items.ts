/** The items of a responses request's input as schemas, one per type. */
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/responses/limits'
import type { JsonObject } from '@/lib/json'
import { object, oneOf, optional } from '@/lib/schemas'

/** An object of which nothing is known but that it is one. */
export const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}, { description: 'an object' }))
const NonEmptyString = Type.String({ minLength: 1 })

/** A part of a message's content, or of a tool's output. Some clients send the spellings of chat-completions. */
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

/** Of a function or a custom tool. */
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

const AdditionalTools = object({ tools: Type.Array(object({ type: NonEmptyString }), LIMITS.tools) })

/** Another agent of the caller's speaks. */
const AgentMessage = object({
  content: optional(Content),
  message: optional(Type.String()),
  text: optional(Type.String()),
})

/** From here on the model is to think harder or less, and answer in another form. */
const ConfigurationUpdate = object({
  reasoning: optional(object({ effort: optional(Type.String()) })),
  text: optional(object({ format: optional(AnyObject) })),
})

const ItemReference = object({ id: NonEmptyString })

/** The items that have a meaning in every format, by their type. */
export const ITEMS = {
  message: Message,
  function_call: FunctionCall,
  function_call_output: CallOutput,
  custom_tool_call: CustomToolCall,
  custom_tool_call_output: CallOutput,
  reasoning: Reasoning,
  additional_tools: AdditionalTools,
  agent_message: AgentMessage,
  configuration_update: ConfigurationUpdate,
  item_reference: ItemReference,
} as const

/** Any item: its own schema is chosen by its type, so that an error names the very field at fault. */
export const AnyItem = object({
  type: optional(Type.String({ description: 'message where it is left out' })),
  role: optional(Type.String()),
  call_id: optional(Type.String()),
})

export type WireItemType = keyof typeof ITEMS
export type WireItem<T extends WireItemType = WireItemType> = { [K in T]: Static<(typeof ITEMS)[K]> }[T]
export type WireAnyItem = Static<typeof AnyItem>
export type WirePart = Static<typeof Part>
export type WireContent = Static<typeof Content>
