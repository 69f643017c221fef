/** The answers of the messages endpoints as schemas, for the documentation. */
import { Type } from '@sinclair/typebox'

const Block = Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })
const Count = Type.Integer({ minimum: 0 })

/** The 200 of `POST /v1/messages`. */
export const MessageAnswer = Type.Object({
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  content: Type.Array(Block, { description: 'Blocks of type text, thinking, redacted_thinking or tool_use.' }),
  model: Type.String(),
  stop_reason: Type.Union([
    Type.Literal('end_turn'),
    Type.Literal('max_tokens'),
    Type.Literal('stop_sequence'),
    Type.Literal('tool_use'),
    Type.Literal('pause_turn'),
    Type.Literal('refusal'),
    Type.Literal('model_context_window_exceeded'),
  ]),
  stop_sequence: Type.Union([Type.String(), Type.Null()]),
  usage: Type.Object({
    input_tokens: Count,
    output_tokens: Count,
    cache_creation_input_tokens: Type.Optional(Count),
    cache_read_input_tokens: Type.Optional(Count),
  }),
})

/** The 200 of `POST /v1/messages/count_tokens`. */
export const TokenCount = Type.Object({ input_tokens: Count })

/** Every error of the messages endpoints. */
export const ErrorAnswer = Type.Object({
  type: Type.Literal('error'),
  error: Type.Object({
    type: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
  request_id: Type.String(),
})
