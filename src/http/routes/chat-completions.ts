/** The endpoints of family 1: `POST /v1/chat/completions` and `/v1/embeddings`, in every spelling that clients use. */
import { Elysia } from 'elysia'
import { decodeEmbeddings, EmbeddingsRequest, EmbeddingsResponse } from '@/formats/chat-completions/index'
import type { Format } from '@/formats/format'
import { answerChat, type ChatEndpoint, formatNamed } from '@/http/answer-chat'
import { answerEmbeddings } from '@/http/answer-embeddings'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import {
  exampleEmbeddingModel,
  exampleModel,
  QUESTION,
  SYSTEM,
  WEATHER,
  WEATHER_QUESTION,
  WEATHER_SCHEMA,
} from '@/http/openapi/example-model'
import { chatOperation, type Examples, operation } from '@/http/openapi/operation'
import { wantsUsageRecord } from '@/http/preference-headers'
import { usageRecordEvent } from '@/http/usage-record-event'

/** The chat-completions endpoint, for any path. */
export function chatCompletionsEndpoint(deps: HttpDeps): ChatEndpoint {
  const format = formatNamed(deps, 'chat-completions')
  return { format, route: '/v1/chat/completions', line: {}, framing: format.framing }
}

export const EMBEDDINGS_PATH = '/v1/embeddings'

/** The embeddings endpoint of this format. */
export function embeddingsEndpoint(deps: Pick<HttpDeps, 'formats'>) {
  return { format: formatNamed(deps, 'chat-completions'), route: EMBEDDINGS_PATH, decode: decodeEmbeddings }
}

/** Mounts chat completions and embeddings. */
export function chatCompletionsRoutes(deps: HttpDeps) {
  const endpoint = chatCompletionsEndpoint(deps)
  const withUsageRecord = { ...endpoint, epilogue: usageRecordEvent }
  const answer = ({ request }: { request: Request }) =>
    answerChat(deps, request, wantsUsageRecord(request.headers) ? withUsageRecord : endpoint)
  const embeddings = embeddingsEndpoint(deps)
  const embed = ({ request }: { request: Request }) => answerEmbeddings(deps, request, embeddings)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return (
    new Elysia({ name: 'chat-completions-routes' })
      .post('/v1/chat/completions', answer, {
        parse: 'none',
        detail: chatOperation(endpoint.format, {
          summary: 'Create a chat completion (family 1)',
          description:
            'With `stream: true` the answer is server-sent events that end in `data: [DONE]`. With the header ' +
            '`x-svc-usage-record: true` as well, one more event follows, `usage_record`, which says what the answer cost.',
          examples: EXAMPLES,
        }),
      })
      // For clients whose path has `/v1` twice, or not at all.
      .post('/v1/v1/chat/completions', answer, undocumented)
      .post('/chat/completions', answer, undocumented)
      .post(EMBEDDINGS_PATH, embed, { parse: 'none', detail: embeddingsDetail(endpoint.format) })
      .post('/v1/v1/embeddings', embed, undocumented)
      .post('/embeddings', embed, undocumented)
  )
}

function embeddingsDetail(format: Format) {
  const input = ['The quick brown fox', 'jumps over the lazy dog']
  return operation({
    tag: 'Inference',
    summary: 'Create embeddings (family 1)',
    description:
      'A vector for each input, in their order. Models whose `kind` is `embedding` take it; others answer conversations. ' +
      '`encoding_format: base64` gives little-endian 32-bit floats, as most client libraries ask for unless told otherwise. ' +
      'Input tokens are all that costs. There is no fallback to another model, whose vectors could not be compared. ' +
      'Vectors of fewer `dimensions` are given as the provider gives them: some models do not normalise those.',
    formats: [format],
    requestSchema: EmbeddingsRequest,
    examples: { texts: { summary: 'Two texts', value: { model: exampleEmbeddingModel(), input } } },
    responseSchema: EmbeddingsResponse,
    errors: INFERENCE_ERRORS,
  })
}

const MODEL = exampleModel()
const MESSAGES = [{ role: 'user', content: QUESTION }]
const EXAMPLES: Examples = {
  text: { summary: 'A question', value: { model: MODEL, messages: MESSAGES, max_tokens: 200 } },
  stream: {
    summary: 'The answer as it is written',
    value: { model: MODEL, messages: MESSAGES, max_tokens: 200, stream: true, stream_options: { include_usage: true } },
  },
  tools: {
    summary: 'A function that the model may call',
    value: {
      model: exampleModel('tools'),
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: WEATHER_QUESTION },
      ],
      tools: [{ type: 'function', function: { ...WEATHER, parameters: WEATHER_SCHEMA } }],
      max_tokens: 200,
    },
  },
}
