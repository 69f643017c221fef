/**
 * The endpoints of family 3: `POST /{v1,v1beta}/models/{model}:{verb}` in every spelling that real clients use, and its
 * model list.
 */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import {
  decodeCountTokens,
  encodeCountTokens,
  generateContent,
  jsonArrayFraming,
  parseModelPath,
} from '@/formats/generate-content/index'
import { answerChat } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import type { HttpDeps } from '@/http/deps'
import { findModelBody, modelAnswer, ownModelBodies } from '@/http/model-list'
import { INFERENCE_ERRORS, operation } from '@/http/openapi'
import { pathOf, queryOf } from '@/http/request-line'
import { documentWildcards, MODEL_ENTRY } from '@/http/wildcard-docs'

/**
 * Mounts the generate-content endpoints. No router can split model and verb, so
 * the path is parsed here, and the endpoints are described below.
 */
export function generateContentRoutes(deps: HttpDeps) {
  const answer = ({ request }: { request: Request }) => answerPath(deps, request)
  const hidden = { detail: { hide: true } } as const
  const undocumented = { parse: 'none', ...hidden } as const
  const models = ownModelBodies(deps.catalog, generateContent.modelListing)
  const list = () => modelAnswer(models.list)
  const entry = ({ request }: { request: Request }) => modelAnswer(findModelBody(models, pathOf(request.url)))
  return (
    new Elysia({ name: 'generate-content-routes' })
      .post('/v1beta/*', answer, undocumented)
      .post('/v1/*', answer, undocumented)
      .post('/models/*', answer, undocumented)
      .post('/v1alpha/*', answer, undocumented)
      .post('/v1beta1/*', answer, undocumented)
      .get('/v1beta/models', list, {
        detail: operation({
          tag: 'Models',
          summary: 'List all models and auto tiers (family 3)',
          description: 'The list as clients of the generate-content format read it, everything on one page.',
          errors: [],
          isPublic: true,
        }),
      })
      .get('/v1beta/models/*', entry, hidden)
      // A base address with the version twice, or with another one.
      .get('/v1beta/v1/models', list, hidden)
      .get('/v1beta/v1/models/*', entry, hidden)
      .get('/v1beta/v1beta/models', list, hidden)
      .get('/v1beta/v1beta/models/*', entry, hidden)
  )
}

async function answerPath(deps: HttpDeps, request: Request): Promise<Response> {
  const path = pathOf(request.url)
  const parsed = parseModelPath(path)
  switch (parsed?.verb) {
    case 'generateContent':
      return answerChat(deps, request, {
        format: generateContent,
        line: { model: parsed.model, stream: false },
        framing: generateContent.framing,
      })
    case 'streamGenerateContent': {
      const wantsEvents = new URLSearchParams(queryOf(request.url)).get('alt') === 'sse'
      return answerChat(deps, request, {
        format: generateContent,
        line: { model: parsed.model, stream: true },
        framing: wantsEvents ? generateContent.framing : jsonArrayFraming,
      })
    }
    case 'countTokens':
      return answerCount(deps, request, {
        format: generateContent,
        decode: (body) => decodeCountTokens(body, { model: parsed.model }),
        encode: encodeCountTokens,
      })
    default:
      // The prefix is every family's, so the error boundary finds out whose words to use.
      throw new GatewayError('not_found', `There is no POST ${path.slice(0, 128)}. GET /docs lists all endpoints.`)
  }
}

const GENERATE_DETAIL = 'camelCase and snake_case are accepted alike. The same paths work under `/v1`.'

/** The endpoints of this family whose paths only a wildcard can match. */
export const GENERATE_CONTENT_PATHS = documentWildcards({
  '/v1beta/models/{model}:generateContent': {
    post: operation({
      tag: 'Inference',
      summary: 'Generate content (family 3)',
      description: `Answers in one piece. ${GENERATE_DETAIL}`,
      requestSchema: generateContent.requestSchema,
      errors: INFERENCE_ERRORS,
      isRouted: true,
    }),
  },
  '/v1beta/models/{model}:streamGenerateContent': {
    post: operation({
      tag: 'Inference',
      summary: 'Stream generated content (family 3)',
      description: `Server-sent events with \`?alt=sse\`, else a JSON array that is written as it comes. ${GENERATE_DETAIL}`,
      requestSchema: generateContent.requestSchema,
      errors: INFERENCE_ERRORS,
      isRouted: true,
    }),
  },
  '/v1beta/models/{model}:countTokens': {
    post: operation({
      tag: 'Inference',
      summary: 'Count input tokens (family 3)',
      description: 'Free. Counted locally: the provider may count a little differently.',
      errors: [400, 401, 404, 413, 415, 503],
    }),
  },
  '/v1beta/models/{model}': { get: MODEL_ENTRY },
})
