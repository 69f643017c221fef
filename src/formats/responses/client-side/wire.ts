/** The responses request as a schema: known fields typed, unknown ones kept; `null` counts as absent. */
import { type Static, Type } from '@sinclair/typebox'
import { preferencesSchema } from '@/formats/preferences'
import { LIMITS } from '@/formats/responses/limits'
import { object, optional, titled } from '@/lib/schemas'
import { AnyItem, AnyObject } from './wire-items'

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

/** The body of `POST /v1/responses`. */
export const ResponsesRequest = titled('ResponsesRequest', {
  model: Type.String({ ...LIMITS.modelChars, description: 'A model or tier from GET /v1/models' }),
  input: optional(
    Type.Union([Type.String(), Type.Array(AnyItem, LIMITS.items)], { description: 'a string or an array of items' }),
  ),
  instructions: optional(Type.String({ description: 'The system prompt of this request alone' })),
  previous_response_id: optional(Type.String({ description: 'The stored answer that this request goes on from' })),
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
  fallback: optional(
    Type.Array(Type.String(LIMITS.modelChars), {
      ...LIMITS.fallback,
      description: 'Models to try in order when the first fails; an extension of this service',
    }),
  ),
})

export type WireRequest = Static<typeof ResponsesRequest>
