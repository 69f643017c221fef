/** Schemas that document answers for messages clients: a message, a stream event, an error. */

import { type TProperties, Type } from '@sinclair/typebox'
import { costFields } from '@/formats/cost-fields'
import { COST_PLACE } from '@/formats/messages/usage'
import { orNull } from '@/lib/schemas'

const NullableText = orNull(Type.String())
const Count = Type.Integer({ minimum: 0 })

const InputTokens = Type.Integer({ minimum: 0, description: 'Input without cached tokens' })
const OUTPUT_USAGE = {
  output_tokens: Type.Integer({ minimum: 0, description: 'Output, thinking included' }),
  cache_creation_input_tokens: Type.Optional(orNull(Count)),
  cache_read_input_tokens: Type.Optional(orNull(Count)),
  cache_creation: Type.Optional(
    orNull(Type.Object({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count })),
  ),
  output_tokens_details: Type.Optional(orNull(Type.Object({ thinking_tokens: Type.Optional(Count) }))),
}

const Usage = Type.Object(
  { input_tokens: InputTokens, ...OUTPUT_USAGE, ...costFields(COST_PLACE.parts) },
  { title: 'MessageUsage', description: 'What is charged' },
)
/** The usage at a stream's end, with only the fields that changed since its start. */
const FinalUsage = Type.Object(
  { input_tokens: Type.Optional(orNull(InputTokens)), ...OUTPUT_USAGE, ...costFields(COST_PLACE.parts) },
  { title: 'MessageFinalUsage', description: 'What is charged, as far as it differs from `message_start`' },
)

/** Fields that are null until the answer has ended. */
const STOP = {
  stop_reason: orNull(Type.String(), {
    description: 'end_turn, max_tokens, stop_sequence, tool_use, pause_turn or refusal',
  }),
  stop_sequence: NullableText,
}

const AnswerBlock = Type.Union(
  [
    Type.Object({ type: Type.Literal('text'), text: Type.String() }),
    Type.Object({ type: Type.Literal('thinking'), thinking: Type.String(), signature: Type.String() }),
    Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() }),
    Type.Object({
      type: Type.Literal('tool_use'),
      id: Type.String(),
      name: Type.String(),
      input: Type.Object({}, { additionalProperties: true }),
    }),
    Type.Object(
      { type: Type.String() },
      { additionalProperties: true, description: 'Of a tool that ran at the provider' },
    ),
  ],
  { title: 'MessageBlock' },
)

export const AnswerSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String({ description: 'The model that answered' }),
    content: Type.Array(AnswerBlock),
    ...STOP,
    usage: Usage,
  },
  { title: 'Message' },
)

export const ErrorSchema = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({
      type: Type.String(),
      message: Type.String(),
      details: Type.Optional(
        Type.Object(
          { error_code: Type.Optional(Type.String()), param: Type.Optional(Type.String()) },
          { additionalProperties: true, description: 'A word finer than `type`, the field at fault, and more facts' },
        ),
      ),
    }),
    request_id: Type.String(),
  },
  { title: 'MessageError' },
)

const BlockIndex = Type.Integer({ description: 'Which block of `content` it is about' })
const BlockDelta = Type.Union([
  event('text_delta', { text: Type.String() }),
  event('thinking_delta', { thinking: Type.String() }),
  event('signature_delta', { signature: Type.String() }),
  event('input_json_delta', { partial_json: Type.String() }),
  event('citations_delta', { citation: Type.Object({}, { additionalProperties: true }) }),
])

export const EventSchema = Type.Union(
  [
    event('message_start', { message: AnswerSchema }),
    event('content_block_start', { index: BlockIndex, content_block: AnswerBlock }),
    event('content_block_delta', { index: BlockIndex, delta: BlockDelta }),
    event('content_block_stop', { index: BlockIndex }),
    event('message_delta', { delta: Type.Object(STOP), usage: FinalUsage }),
    event('message_stop', {}),
    event('ping', {}),
    ErrorSchema,
  ],
  {
    title: 'MessageEvent',
    description: 'The data of one event, whose name is its type. The last one is `message_stop`, or an error.',
  },
)

export const CountSchema = Type.Object({ input_tokens: Count }, { title: 'MessageTokenCount' })

function event<Fields extends TProperties>(type: string, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), ...fields })
}
