import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { perCatalog } from '@/catalog/reload/live-catalog'
import { GatewayError } from '@/chat/error'
import {
  BatchEmbedContentsRequest,
  BatchEmbedContentsResponse,
  CountSchema,
  CountTokensRequest,
  decodeBatchEmbedContents,
  decodeCountTokens,
  decodeEmbedContent,
  EmbedContentRequest,
  EmbedContentResponse,
  encodeCountTokens,
  generateContent,
  jsonArrayFraming,
  parseModelPath,
} from '@/formats/generate-content/index'
import { answerChat } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import { answerEmbeddings } from '@/http/answer-embeddings'
import type { HttpDeps } from '@/http/deps'
import { ENTRY_DETAIL, FILTERS, findModelBody, modelAnswer, ownListSchema, ownModelBodies } from '@/http/model-list'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import {
  exampleEmbeddingModel,
  exampleModel,
  QUESTION,
  SYSTEM,
  WEATHER,
  WEATHER_QUESTION,
} from '@/http/openapi/example-model'
import { chatOperation, countOperation, type Examples, operation, type Parameter } from '@/http/openapi/operation'
import { describedAs } from '@/http/openapi/wildcards'
import { pathOf, queryOf } from '@/http/request-line'

/**
 * The endpoints of family 3: `POST /{v1,v1beta}/models/{model}:{verb}` in every spelling that clients use, and its model list. Mounts the
 * generate-content endpoints. The router can't separate model and verb, so the path is parsed here, and the endpoints are documented below.
 */
export function generateContentRoutes(deps: HttpDeps) {
  const answer = ({ request }: { request: Request }) => answerPath(deps, request)
  const hidden = { detail: { hide: true } } as const
  const undocumented = { parse: 'none', ...hidden } as const
  const models = perCatalog(deps.catalog, (catalog) =>
    ownModelBodies(catalog, deps.formats, generateContent.modelListing),
  )
  const list = ({ request }: { request: Request }) => modelAnswer(models().list(queryOf(request.url)))
  const entry = ({ request }: { request: Request }) => modelAnswer(findModelBody(models(), pathOf(request.url)))
  return (
    new Elysia({ name: 'generate-content-routes' })
      .post('/v1beta/*', answer, { parse: 'none', detail: describeAnswers() })
      .post('/v1/*', answer, undocumented)
      .post('/models/*', answer, undocumented)
      .post('/v1alpha/*', answer, undocumented)
      .post('/v1beta1/*', answer, undocumented)
      .get('/v1beta/models', list, {
        detail: operation({
          tag: 'Models',
          summary: 'List all models and auto tiers (family 3)',
          description: 'The list as clients of the generate-content format read it, everything on one page.',
          parameters: FILTERS,
          responseSchema: ownListSchema(generateContent.modelListing),
          errors: [],
          isPublic: true,
        }),
      })
      .get('/v1beta/models/*', entry, {
        detail: describedAs([{ '/v1beta/models/{model}': ENTRY_DETAIL }, exampleModel()]),
      })
      // For clients whose path has a version twice, or two different versions.
      .get('/v1beta/v1/models', list, hidden)
      .get('/v1beta/v1/models/*', entry, hidden)
      .get('/v1beta/v1beta/models', list, hidden)
      .get('/v1beta/v1beta/models/*', entry, hidden)
  )
}

function routeOf(verb: string): string {
  return `/v1beta/models/{model}:${verb}`
}

async function answerPath(deps: HttpDeps, request: Request): Promise<Response> {
  const path = pathOf(request.url)
  const parsed = parseModelPath(path)
  switch (parsed?.verb) {
    case 'generateContent':
      return answerChat(deps, request, {
        format: generateContent,
        route: routeOf(parsed.verb),
        line: { model: parsed.model, stream: false },
        framing: generateContent.framing,
      })
    case 'streamGenerateContent': {
      const wantsEvents = new URLSearchParams(queryOf(request.url)).get('alt') === 'sse'
      return answerChat(deps, request, {
        format: generateContent,
        route: routeOf(parsed.verb),
        line: { model: parsed.model, stream: true },
        framing: wantsEvents ? generateContent.framing : jsonArrayFraming,
      })
    }
    case 'countTokens':
      return answerCount(deps, request, {
        format: generateContent,
        route: routeOf(parsed.verb),
        decode: (body) => decodeCountTokens(body, { model: parsed.model }),
        encode: encodeCountTokens,
      })
    case 'embedContent':
    case 'batchEmbedContents': {
      const decode = parsed.verb === 'embedContent' ? decodeEmbedContent : decodeBatchEmbedContents
      return answerEmbeddings(deps, request, {
        format: generateContent,
        route: routeOf(parsed.verb),
        decode: (body) => decode(body, { model: parsed.model }),
      })
    }
    default:
      // All families share this prefix, so the common error handler chooses the error's format.
      throw new GatewayError('not_found', `There is no POST ${path.slice(0, 128)}. GET /docs lists all endpoints.`)
  }
}

const GENERATE_DETAIL = 'camelCase and snake_case are accepted alike. The same paths work under `/v1`.'

const EMBED_DETAIL =
  'Text only; models whose `kind` is `embedding` take it, and input tokens are all that costs. `taskType`, `title` and ' +
  `\`autoTruncate\` are heard by providers of this format only. ${GENERATE_DETAIL}`

function describeAnswers() {
  const paths = {
    '/v1beta/models/{model}:generateContent': chatOperation(generateContent, {
      summary: 'Generate content (family 3)',
      description: `Answers in one piece. ${GENERATE_DETAIL}`,
      examples: EXAMPLES,
      eventSchema: undefined,
    }),
    '/v1beta/models/{model}:streamGenerateContent': chatOperation(generateContent, {
      summary: 'Stream generated content (family 3)',
      description: `Server-sent events with \`?alt=sse\`, else a JSON array that is written as it comes. ${GENERATE_DETAIL}`,
      examples: EXAMPLES,
      parameters: [ALT],
      responseSchema: Type.Array(generateContent.eventSchema as TSchema),
    }),
    '/v1beta/models/{model}:countTokens': countOperation(generateContent, {
      summary: 'Count input tokens (family 3)',
      requestSchema: CountTokensRequest,
      responseSchema: CountSchema,
      question: { contents: CONTENTS },
    }),
  }
  return describedAs([paths, exampleModel('tools')], [EMBED_PATHS, exampleEmbeddingModel()])
}

const TEXT = { parts: [{ text: 'The quick brown fox' }] }
const EMBED_PATHS = {
  '/v1beta/models/{model}:embedContent': operation({
    tag: 'Inference',
    summary: 'Embed one content (family 3)',
    description: EMBED_DETAIL,
    formats: [generateContent],
    requestSchema: EmbedContentRequest,
    examples: { text: { summary: 'A text', value: { content: TEXT } } },
    responseSchema: EmbedContentResponse,
    errors: INFERENCE_ERRORS,
  }),
  '/v1beta/models/{model}:batchEmbedContents': operation({
    tag: 'Inference',
    summary: 'Embed several contents (family 3)',
    description: `A vector for each request, in their order. ${EMBED_DETAIL}`,
    formats: [generateContent],
    requestSchema: BatchEmbedContentsRequest,
    examples: { texts: { summary: 'Two texts', value: { requests: [{ content: TEXT }, { content: TEXT }] } } },
    responseSchema: BatchEmbedContentsResponse,
    errors: INFERENCE_ERRORS,
  }),
}

const ALT: Parameter = {
  name: 'alt',
  in: 'query',
  description: '`sse` asks for server-sent events',
  schema: { type: 'string', enum: ['sse', 'json'] },
}

const CONTENTS = [{ role: 'user', parts: [{ text: QUESTION }] }]

const EXAMPLES: Examples = {
  text: { summary: 'A question', value: { contents: CONTENTS, generationConfig: { maxOutputTokens: 200 } } },
  tools: {
    summary: 'A function that the model may call',
    value: {
      systemInstruction: { parts: [{ text: SYSTEM }] },
      contents: [{ role: 'user', parts: [{ text: WEATHER_QUESTION }] }],
      tools: [
        {
          functionDeclarations: [
            {
              ...WEATHER,
              parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] },
            },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 200 },
    },
  },
}
