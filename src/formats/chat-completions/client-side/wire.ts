/** The schema of chat-completions requests: known fields are typed, unknown ones kept; `null` counts as missing. */

import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/chat-completions/limits'
import { fallbackSchema, preferencesSchema } from '@/formats/preferences'
import { routingSchemas } from '@/formats/routing-words'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { object, oneOf, optional, titled } from '@/lib/schemas'

const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}))
const NonEmptyString = Type.String({ minLength: 1 })

/** Cache hints as OpenRouter and LiteLLM define them. The time to live determines the price, so an unknown time is refused. */
const CacheControl = optional(
  titled('CacheControl', {
    type: Type.Literal('ephemeral'),
    ttl: optional(oneOf(['5m', '1h'])),
  }),
)

const ContentPart = titled('ChatCompletionContentPart', {
  type: Type.String({ description: 'text, image_url, video_url, input_audio, file or refusal' }),
  text: optional(Type.String()),
  refusal: optional(Type.String()),
  image_url: optional(Type.Union([object({ url: Type.String(), detail: optional(Type.String()) }), Type.String()])),
  video_url: optional(Type.Union([object({ url: Type.String() }), Type.String()])),
  input_audio: optional(object({ data: Type.String(), format: Type.String() })),
  file: optional(
    object({
      file_data: optional(Type.String()),
      file_id: optional(Type.String()),
      filename: optional(Type.String()),
    }),
  ),
  prompt_cache_breakpoint: optional(AnyObject),
  cache_control: CacheControl,
})

const ToolCall = titled('ChatCompletionSentToolCall', {
  id: optional(Type.String()),
  type: optional(Type.String()),
  function: optional(object({ name: NonEmptyString, arguments: optional(Type.Union([Type.String(), AnyObject])) })),
  custom: optional(object({ name: NonEmptyString, input: optional(Type.String()) })),
  extra_content: optional(AnyObject),
  cache_control: CacheControl,
})

const Message = titled('ChatCompletionMessage', {
  role: oneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: optional(Type.Union([Type.String(), Type.Array(ContentPart, LIMITS.contentParts)])),
  name: optional(Type.String()),
  tool_call_id: optional(Type.String()),
  tool_calls: optional(Type.Array(ToolCall, LIMITS.toolCalls)),
  function_call: optional(object({ name: NonEmptyString, arguments: optional(Type.String()) })),
  refusal: optional(Type.String()),
  images: optional(
    Type.Array(ContentPart, { ...LIMITS.contentParts, description: 'Pictures that the model has made' }),
  ),
  reasoning_content: optional(Type.String()),
  reasoning: optional(Type.Unknown()),
  cache_control: CacheControl,
})

const FunctionDefinition = titled('ChatCompletionFunction', {
  name: NonEmptyString,
  description: optional(Type.String()),
  parameters: optional(AnyObject),
  strict: optional(Type.Boolean()),
  cache_control: CacheControl,
})

const CustomDefinition = titled('ChatCompletionCustomTool', {
  name: NonEmptyString,
  description: optional(Type.String()),
  format: optional(
    object({
      type: Type.String({ description: 'text or grammar' }),
      grammar: optional(object({ definition: optional(Type.String()), syntax: optional(Type.String()) })),
    }),
  ),
})

const Tool = titled('ChatCompletionTool', {
  type: optional(Type.String({ description: 'function or custom' })),
  function: optional(FunctionDefinition),
  custom: optional(CustomDefinition),
  cache_control: CacheControl,
})

const REQUEST_FIELDS = {
  model: Type.String({ ...LIMITS.modelChars, description: 'A model or tier from GET /v1/models' }),
  stream: optional(Type.Boolean({ default: false, description: 'true answers with server-sent events' })),
  stream_options: optional(object({ include_usage: optional(Type.Boolean()) })),
  temperature: optional(Type.Number({ ...LIMITS.temperature, default: 1 })),
  top_p: optional(Type.Number({ ...LIMITS.topP, default: 1 })),
  frequency_penalty: optional(Type.Number(LIMITS.penalty)),
  presence_penalty: optional(Type.Number(LIMITS.penalty)),
  max_tokens: optional(Type.Integer(LIMITS.outputTokens)),
  max_completion_tokens: optional(Type.Integer(LIMITS.outputTokens)),
  n: optional(Type.Integer({ ...LIMITS.choices, default: 1 })),
  stop: optional(Type.Union([Type.String(), Type.Array(Type.String(), LIMITS.stop)])),
  seed: optional(Type.Integer(LIMITS.seed)),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer(LIMITS.topLogprobs)),
  logit_bias: optional(AnyObject),
  tools: optional(Type.Array(Tool, LIMITS.tools)),
  tool_choice: optional(Type.Union([Type.String(), AnyObject])),
  parallel_tool_calls: optional(Type.Boolean()),
  functions: optional(Type.Array(FunctionDefinition, LIMITS.tools)),
  function_call: optional(Type.Union([Type.String(), object({ name: NonEmptyString })])),
  response_format: optional(
    object({
      type: Type.String({ description: 'text, json_object or json_schema' }),
      json_schema: optional(
        object({
          name: optional(Type.String()),
          description: optional(Type.String()),
          schema: optional(AnyObject),
          strict: optional(Type.Boolean()),
        }),
      ),
    }),
  ),
  reasoning_effort: optional(Type.String({ description: 'none, minimal, low, medium, high, xhigh or max' })),
  user: optional(Type.String()),
  safety_identifier: optional(Type.String()),
  prompt_cache_key: optional(Type.String()),
  cache_control: CacheControl,
  service_tier: optional(Type.String()),
  metadata: optional(AnyObject),
  modalities: optional(
    Type.Array(Type.String(), { description: '`text`, and `image` if the model has a price for it' }),
  ),
  image_config: optional(object({ aspect_ratio: optional(Type.String()), image_size: optional(Type.String()) })),
  audio: optional(AnyObject),
  prediction: optional(AnyObject),
  web_search_options: optional(AnyObject),
  store: optional(Type.Boolean()),
  verbosity: optional(Type.String()),
  svc: optional(preferencesSchema()),
  ...routingSchemas(LIMITS),
  fallbacks: optional(fallbackSchema(LIMITS)),
  fallback: optional(fallbackSchema(LIMITS)),
}

/** The body of `POST /v1/chat/completions`, with at most `maxMessages` messages. */
export function chatCompletionsRequest(maxMessages: number) {
  const { model, ...others } = REQUEST_FIELDS
  const Messages = Type.Array(Message, { ...LIMITS.messages, maxItems: maxMessages })
  return titled('ChatCompletionRequest', { model, messages: Messages, ...others })
}

export type WireRequest = Static<ReturnType<typeof chatCompletionsRequest>>
export type WireMessage = Static<typeof Message>
export type WireContentPart = Static<typeof ContentPart>
export type WireCacheControl = Static<typeof CacheControl>
export type WireToolCall = Static<typeof ToolCall>
export type WireTool = Static<typeof Tool>

export type RequestCheck = (body: JsonObject) => WireRequest

export const checkRequest: RequestCheck = createRequestCheck(chatCompletionsRequest(LIMITS.messages.maxItems))
