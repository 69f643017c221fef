import { Elysia } from 'elysia'
import { CountSchema, CountTokensRequest, decodeCountTokens, encodeCountTokens } from '@/formats/messages/index'
import { answerChat, formatNamed } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import type { HttpDeps } from '@/http/deps'
import { exampleModel, QUESTION, SYSTEM, WEATHER, WEATHER_QUESTION, WEATHER_SCHEMA } from '@/http/openapi/example-model'
import { chatOperation, countOperation, type Examples } from '@/http/openapi/operation'

/** The endpoints of family 2: messages and `count_tokens`. Unknown query parameters are ignored, such as the libraries' `beta=true`. */
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
        detail: chatOperation(format, {
          summary: 'Create a message (family 2)',
          description:
            'The base address of client libraries has no `/v1`. With `stream: true` the answer is server-sent events that end in `message_stop`.',
          examples: EXAMPLES,
        }),
      })
      .post('/v1/messages/count_tokens', answerTokens, {
        parse: 'none',
        detail: countOperation(format, {
          summary: 'Count the input tokens of a message (family 2)',
          requestSchema: CountTokensRequest,
          responseSchema: CountSchema,
          question: { model: MODEL, messages: MESSAGES },
        }),
      })
      // For base URLs with `/v1` although the library adds it, or without `/v1` although the library doesn't add it.
      .post('/v1/v1/messages', answer, undocumented)
      .post('/v1/v1/messages/count_tokens', answerTokens, undocumented)
      .post('/messages', answer, undocumented)
      .post('/messages/count_tokens', answerTokens, undocumented)
  )
}

const MODEL = exampleModel()
const MESSAGES = [{ role: 'user', content: QUESTION }]
const EXAMPLES: Examples = {
  text: { summary: 'A question', value: { model: MODEL, max_tokens: 200, messages: MESSAGES } },
  stream: {
    summary: 'The answer as it is written',
    value: { model: MODEL, max_tokens: 200, messages: MESSAGES, stream: true },
  },
  tools: {
    summary: 'A function that the model may call',
    value: {
      model: exampleModel('tools'),
      max_tokens: 200,
      system: SYSTEM,
      messages: [{ role: 'user', content: WEATHER_QUESTION }],
      tools: [{ ...WEATHER, input_schema: WEATHER_SCHEMA }],
    },
  },
}
