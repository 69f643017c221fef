/** Schemas that document answers for chat-completions clients: an answer, a stream chunk, an error. */

import { Type } from '@sinclair/typebox'
import { COST_PLACE } from '@/formats/chat-completions/usage'
import { costFields } from '@/formats/cost-fields'
import { orNull } from '@/lib/schemas'

const Nullable = (description?: string) => orNull(Type.String(), description === undefined ? {} : { description })
const Count = Type.Integer({ minimum: 0 })

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer({ minimum: 0, description: 'Input, cached tokens included' }),
    completion_tokens: Type.Integer({ minimum: 0, description: 'Output, reasoning included' }),
    total_tokens: Count,
    prompt_tokens_details: Type.Optional(
      orNull(Type.Object({ cached_tokens: Type.Optional(Count), cache_write_tokens: Type.Optional(Count) })),
    ),
    completion_tokens_details: Type.Optional(orNull(Type.Object({ reasoning_tokens: Type.Optional(Count) }))),
    ...costFields(COST_PLACE.parts),
  },
  { title: 'ChatCompletionUsage', description: 'What is charged' },
)

const ToolCall = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ description: 'function or custom' }),
    function: Type.Optional(
      Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON, as the model wrote it' }) }),
    ),
    custom: Type.Optional(Type.Object({ name: Type.String(), input: Type.String() })),
  },
  { title: 'ChatCompletionToolCall' },
)

const FinishReason = Nullable('stop, length, tool_calls or content_filter; function_call for clients of that kind')
const Image = Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) })

const AnswerMessage = Type.Object(
  {
    role: Type.Literal('assistant'),
    content: Nullable(),
    refusal: Type.Optional(Nullable()),
    reasoning_content: Type.Optional(Nullable('The model’s reasoning, where it shows any')),
    images: Type.Optional(Type.Array(Image)),
    tool_calls: Type.Optional(orNull(Type.Array(ToolCall))),
  },
  { title: 'ChatCompletionAnswerMessage' },
)

export const AnswerSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String({ description: 'The model that answered' }),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: AnswerMessage,
        logprobs: Type.Optional(orNull(Type.Object({}, { additionalProperties: true }))),
        finish_reason: FinishReason,
      }),
    ),
    usage: Type.Optional(Usage),
  },
  { title: 'ChatCompletion' },
)

const Delta = Type.Object(
  {
    role: Type.Optional(Nullable()),
    content: Type.Optional(Nullable()),
    refusal: Type.Optional(Nullable()),
    reasoning_content: Type.Optional(Nullable()),
    images: Type.Optional(Type.Array(Image)),
    tool_calls: Type.Optional(
      orNull(
        Type.Array(
          Type.Object({
            index: Type.Integer({ description: 'Which call the piece belongs to' }),
            id: Type.Optional(Nullable()),
            type: Type.Optional(Nullable()),
            function: Type.Optional(
              Type.Object({ name: Type.Optional(Nullable()), arguments: Type.Optional(Nullable('The next piece')) }),
            ),
          }),
        ),
      ),
    ),
  },
  { title: 'ChatCompletionDelta' },
)

/** The body of an error response, and the last event of an interrupted stream. */
export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Nullable('The field at fault'),
      code: Nullable('A word finer than `type`'),
    }),
  },
  { title: 'ChatCompletionError' },
)

const Chunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Delta,
        logprobs: Type.Optional(orNull(Type.Object({}, { additionalProperties: true }))),
        finish_reason: Type.Optional(FinishReason),
      }),
      { description: 'Empty in the chunk of the usage' },
    ),
    usage: Type.Optional(orNull(Usage, { description: 'Only with `stream_options.include_usage`' })),
  },
  { title: 'ChatCompletionChunk' },
)

/** The data of a stream event; the last event is `[DONE]`. */
export const EventSchema = Type.Union([Chunk, ErrorSchema], {
  title: 'ChatCompletionEvent',
  description: 'The data of one event. The last one is the word `[DONE]`, or the error that broke the stream.',
})
