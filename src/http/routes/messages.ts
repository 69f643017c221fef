/** The endpoints of family 2: `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
import { Elysia } from 'elysia'
import { CountSchema, CountTokensRequest, decodeCountTokens, encodeCountTokens } from '@/formats/messages/index'
import { answerChat, formatNamed } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import { exampleModel } from '@/http/openapi/example-model'
import { type Examples, operation } from '@/http/openapi/operation'

/** Mounts the messages endpoints. Unknown query parameters are ignored, such as the libraries' `beta=true`. */
export function messagesRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'messages')
  const endpoint = { format, route: '/v1/messages', line: {}, framing: format.framing }
  const count = { format, route: '/v1/messages/count_tokens', decode: decodeCountTokens, encode: encodeCountTokens }
  const answer = ({ request }: { request: Request }) => answerChat(deps, request, endpoint)
  const answerTokens = ({ request }: { request: Request }) => answerCount(deps, request, count)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return (
    new Elysia({ name: 'messages-routes' })
      .post('/v1/messages', answer, {
        parse: 'none',
        detail: operation({
          tag: 'Inference',
          summary: 'Create a message (family 2)',
          description:
            'The base address of client libraries has no `/v1`. With `stream: true` the answer is server-sent events that end in `message_stop`.',
          formats: [format],
          requestSchema: format.requestSchema,
          examples: EXAMPLES,
          responseSchema: format.answerSchema,
          eventSchema: format.eventSchema,
          errors: INFERENCE_ERRORS,
          isRouted: true,
        }),
      })
      .post('/v1/messages/count_tokens', answerTokens, {
        parse: 'none',
        detail: operation({
          tag: 'Inference',
          summary: 'Count the input tokens of a message (family 2)',
          description: 'Free. Counted locally: the provider may count a little differently.',
          formats: [format],
          requestSchema: CountTokensRequest,
          examples: {
            text: { summary: 'A question', value: { model: exampleModel(), messages: QUESTION } },
          },
          responseSchema: CountSchema,
          errors: [400, 401, 404, 413, 415, 503],
        }),
      })
      // A base address with `/v1` where the library adds its own, or without where it adds none.
      .post('/v1/v1/messages', answer, undocumented)
      .post('/v1/v1/messages/count_tokens', answerTokens, undocumented)
      .post('/messages', answer, undocumented)
      .post('/messages/count_tokens', answerTokens, undocumented)
  )
}

const QUESTION = [{ role: 'user', content: 'Why is the sky blue? Answer in one sentence.' }]

const MODEL = exampleModel()
const EXAMPLES: Examples = {
  text: { summary: 'A question', value: { model: MODEL, max_tokens: 200, messages: QUESTION } },
  stream: {
    summary: 'The answer as it is written',
    value: { model: MODEL, max_tokens: 200, messages: QUESTION, stream: true },
  },
  tools: {
    summary: 'A function that the model may call',
    value: {
      model: exampleModel('tools'),
      max_tokens: 200,
      system: 'You are a helpful assistant.',
      messages: [{ role: 'user', content: 'What is the weather in Zurich?' }],
      tools: [
        {
          name: 'get_weather',
          description: 'The weather of a city, now',
          input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    },
  },
}
