/** Schemas that document answers for responses clients: a response, a stream event, an error. */

import { Type } from '@sinclair/typebox'
import { costFields } from '@/formats/cost-fields'
import { COST_PLACE } from '@/formats/responses/usage'
import { orNull } from '@/lib/schemas'

const Count = Type.Integer({ minimum: 0 })
const NullableText = orNull(Type.String())

const Usage = Type.Object(
  {
    input_tokens: Type.Integer({ minimum: 0, description: 'Input, cached tokens included' }),
    output_tokens: Type.Integer({ minimum: 0, description: 'Output, reasoning included' }),
    total_tokens: Count,
    input_tokens_details: Type.Optional(Type.Object({ cached_tokens: Type.Optional(Count) })),
    output_tokens_details: Type.Optional(Type.Object({ reasoning_tokens: Type.Optional(Count) })),
    ...costFields(COST_PLACE.parts),
  },
  { title: 'ResponseUsage', description: 'What is charged' },
)

const Item = Type.Object(
  { type: Type.String({ description: 'message, reasoning, function_call, custom_tool_call and others' }) },
  {
    title: 'ResponseItem',
    additionalProperties: true,
    description: 'An item of the answer; the rest depends on its type',
  },
)

export const AnswerSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Number({ description: 'Unix seconds' }),
    status: Type.Optional(Type.String({ description: 'completed, incomplete, failed or in_progress' })),
    model: Type.String({ description: 'The model that answered' }),
    output: Type.Array(Item),
    error: Type.Optional(
      orNull(Type.Object({ code: Type.String(), message: Type.String() }), { description: 'Why it failed' }),
    ),
    incomplete_details: Type.Optional(orNull(Type.Object({ reason: Type.Optional(Type.String()) }))),
    usage: Type.Optional(orNull(Usage)),
  },
  { title: 'Response', additionalProperties: true },
)

export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: NullableText,
      code: NullableText,
    }),
  },
  { title: 'ResponseError' },
)

export const EventSchema = Type.Object(
  {
    type: Type.String({ description: 'response.created, response.output_text.delta and others' }),
    sequence_number: Type.Optional(Count),
    response: Type.Optional(AnswerSchema),
    item: Type.Optional(Item),
    delta: Type.Optional(Type.String({ description: 'The next piece' })),
  },
  {
    title: 'ResponseEvent',
    additionalProperties: true,
    description:
      'The data of one event, whose name is its type; the rest depends on it. The last one is `response.completed`, ' +
      '`response.incomplete`, `response.failed` or `error`.',
  },
)

export const CountSchema = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: Count },
  { title: 'ResponseTokenCount' },
)
