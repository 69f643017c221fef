/** Documents the endpoints whose paths only a wildcard route can match, which the plugin leaves out of the document. */
import { GenerateContentRequest } from '@/formats/generate-content/wire'
import { ModelEntry } from '@/http/routes/models'
import { INFERENCE_ERRORS, operation } from './openapi'

const MODEL_PARAMETER = {
  name: 'model',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'A model or tier from GET /v1/models, with its slash as it is or as `%2F`; `models/` may be left out',
  example: 'svc/alpha',
} as const

const GENERATE_DETAIL = 'camelCase and snake_case are accepted alike. The same paths work under `/v1`.'

const generate = operation({
  tag: 'Inference',
  summary: 'Generate content (family 3)',
  description: `Answers in one piece. ${GENERATE_DETAIL}`,
  requestSchema: GenerateContentRequest,
  errors: INFERENCE_ERRORS,
})

const stream = operation({
  tag: 'Inference',
  summary: 'Stream generated content (family 3)',
  description: `Server-sent events with \`?alt=sse\`, else a JSON array that is written as it comes. ${GENERATE_DETAIL}`,
  requestSchema: GenerateContentRequest,
  errors: INFERENCE_ERRORS,
})

const count = operation({
  tag: 'Inference',
  summary: 'Count input tokens (family 3)',
  description: 'Free. Counted locally: the provider may count a little differently.',
  errors: [400, 401, 404, 413, 415, 503],
})

const entry = operation({
  tag: 'Models',
  summary: 'Get one model or auto tier',
  description: 'The id follows the path as it is (`/v1/models/svc/alpha`) or with its slash as `%2F`.',
  responseSchema: ModelEntry,
  errors: [404],
  isPublic: true,
})

const MODEL_PATHS = [
  ['/v1beta/models/{model}:generateContent', { post: generate }],
  ['/v1beta/models/{model}:streamGenerateContent', { post: stream }],
  ['/v1beta/models/{model}:countTokens', { post: count }],
  ['/v1/models/{model}', { get: entry }],
  ['/v1beta/models/{model}', { get: entry }],
] as const

/** OpenAPI path items of the wildcard endpoints. */
export const WILDCARD_PATHS = Object.fromEntries(
  MODEL_PATHS.map(([path, item]) => [path, { ...item, parameters: [MODEL_PARAMETER] }]),
)
