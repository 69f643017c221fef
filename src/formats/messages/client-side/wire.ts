/** Schemas of messages requests, for validation and documentation; unknown fields are kept. */

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/messages/limits'
import { fallbackSchema, preferencesSchema } from '@/formats/preferences'
import { routingSchemas } from '@/formats/routing-words'
import { createSchemaCheck } from '@/formats/schema-check'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { oneOf, orNull } from '@/lib/schemas'
import {
  AnyBlock,
  BLOCKS,
  CacheControl,
  ToolName,
  type WireBlock,
  type WireBlockType,
  type WireTypedBlock,
} from './wire-blocks'

const Content = Type.Union([Type.String(), Type.Array(AnyBlock, LIMITS.blocks)], {
  description: 'a string or an array of content blocks, each with a type',
})

const Message = Type.Object(
  {
    role: oneOf(['user', 'assistant', 'system'], {
      description: 'Who speaks. `system` in the middle of a conversation gives further instructions.',
    }),
    content: Content,
  },
  { title: 'MessageTurn', description: 'One turn of the conversation.' },
)

const CustomTool = Type.Object(
  {
    name: ToolName,
    description: Type.Optional(Type.String()),
    input_schema: Type.Object({}, { description: 'a JSON Schema of type object' }),
    strict: Type.Optional(Type.Boolean()),
    cache_control: CacheControl,
    type: Type.Optional(orNull(Type.Literal('custom'))),
  },
  { description: 'A function that the caller runs.' },
)

const ProviderTool = Type.Object(
  { type: Type.String({ minLength: 1 }), name: Type.Optional(Type.String()) },
  {
    description:
      "A tool the provider knows by its type, e.g. `web_search_20250305`; only for the format's own providers.",
  },
)

const ToolChoice = Type.Union(
  [
    Type.Object({ type: Type.Literal('auto'), disable_parallel_tool_use: Type.Optional(Type.Boolean()) }),
    Type.Object({ type: Type.Literal('any'), disable_parallel_tool_use: Type.Optional(Type.Boolean()) }),
    Type.Object({
      type: Type.Literal('tool'),
      name: ToolName,
      disable_parallel_tool_use: Type.Optional(Type.Boolean()),
    }),
    Type.Object({ type: Type.Literal('none') }),
  ],
  { title: 'MessageToolChoice', description: 'an object of type auto, any, none, or tool with a name' },
)

const Thinking = Type.Union(
  [
    Type.Object({
      type: Type.Literal('enabled'),
      budget_tokens: Type.Integer(LIMITS.thinkingBudget),
      display: Type.Optional(orNull(Type.String())),
    }),
    Type.Object({
      type: Type.Literal('adaptive'),
      display: Type.Optional(orNull(Type.String())),
    }),
    Type.Object({ type: Type.Literal('between_tools') }),
    Type.Object({ type: Type.Literal('disabled') }),
  ],
  {
    title: 'MessageThinking',
    description: `an object of type adaptive, between_tools, disabled, or enabled with budget_tokens from ${LIMITS.thinkingBudget.minimum} to ${LIMITS.thinkingBudget.maximum}`,
  },
)

const JsonSchemaFormat = Type.Object({ type: Type.Literal('json_schema'), schema: Type.Object({}) })

const OutputConfig = Type.Object(
  {
    effort: Type.Optional(orNull(Type.String(), { description: 'one of low, medium, high, xhigh, max' })),
    format: Type.Optional(orNull(JsonSchemaFormat, { description: 'an object of type json_schema with a schema' })),
  },
  { description: 'How much effort to spend and what form the answer must have.' },
)

const CommonFields = {
  model: Type.String({ ...LIMITS.modelChars, description: 'A model id or an `auto-*` tier.' }),
  messages: Type.Array(Message, LIMITS.messages),
  system: Type.Optional(
    Type.Union([Type.String(), Type.Array(AnyBlock, LIMITS.blocks)], {
      description: 'a string or an array of text blocks',
    }),
  ),
  tools: Type.Optional(
    Type.Array(
      Type.Union([CustomTool, ProviderTool], {
        title: 'MessageTool',
        description: 'a tool with a name and an input_schema',
      }),
      LIMITS.tools,
    ),
  ),
  tool_choice: Type.Optional(ToolChoice),
  thinking: Type.Optional(Thinking),
  output_config: Type.Optional(OutputConfig),
  cache_control: CacheControl,
  svc: Type.Optional(preferencesSchema()),
  ...routingSchemas(LIMITS),
  fallback: Type.Optional(fallbackSchema(LIMITS)),
}

const RequestFields = {
  ...CommonFields,
  max_tokens: Type.Integer({
    ...LIMITS.outputTokens,
    description: 'Maximum output tokens; 0 only warms the prompt cache.',
  }),
  stream: Type.Optional(Type.Boolean({ default: false })),
  temperature: Type.Optional(Type.Number(LIMITS.temperature)),
  top_p: Type.Optional(Type.Number(LIMITS.topP)),
  top_k: Type.Optional(Type.Integer(LIMITS.topK)),
  stop_sequences: Type.Optional(Type.Array(Type.String(LIMITS.stopChars), LIMITS.stopSequences)),
  metadata: Type.Optional(Type.Object({ user_id: Type.Optional(orNull(Type.String(), { description: 'a string' })) })),
  service_tier: Type.Optional(oneOf(['auto', 'standard_only'], { description: 'auto or standard_only' })),
  speed: Type.Optional(
    Type.Union([Type.Literal('standard'), Type.Literal('fast'), Type.Null()], { description: 'standard or fast' }),
  ),
}

export const MessagesRequest = Type.Object(RequestFields, { title: 'MessageRequest' })

/** The body of `POST /v1/messages/count_tokens`: a request without the fields that only affect the answer. */
export const CountTokensRequest = Type.Object(CommonFields, { title: 'MessageCountRequest' })

export type WireRequest = Static<typeof MessagesRequest>
export type WireCountRequest = Static<typeof CountTokensRequest>
export type WireMessage = Static<typeof Message>
export type WireTool = Static<typeof CustomTool>

/** Validates a body. Throws a GatewayError `invalid_request` that names the first faulty field. */
export function checkRequest(body: JsonObject): WireRequest {
  check(MessagesRequest, body, '')
  return body as unknown as WireRequest
}

/** Checks the body of count_tokens by the rules for whole requests. */
export function checkCountTokens(body: JsonObject): WireCountRequest {
  check(CountTokensRequest, body, '')
  return body as unknown as WireCountRequest
}

/** Whether the hub supports blocks of this type. */
export function isKnownBlock(block: WireTypedBlock): block is WireBlock {
  return Object.hasOwn(BLOCKS, block.type)
}

/** Validates a block of the given `type`. Throws like {@link checkRequest}; `path` is the block's place. */
export function checkBlock<T extends WireBlockType>(type: T, block: WireTypedBlock, path: string): WireBlock<T> {
  check(BLOCKS[type], block, path)
  return block as unknown as WireBlock<T>
}

const check = createSchemaCheck({ isMeant, word: JSON.stringify })

/** Whether `variant` is the union's schema for this kind of value. Objects are matched by their `type`. */
function isMeant(variant: TSchema, value: unknown): boolean {
  if (Array.isArray(value)) return variant.type === 'array'
  if (!isJsonObject(value) || variant.type !== 'object') return false
  const type: TSchema | undefined = variant.properties.type
  if (value.type === undefined) return type !== undefined && !(variant.required as string[]).includes('type')
  return type?.const === value.type
}
