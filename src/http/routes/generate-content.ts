/** Family 3: `POST /{v1,v1beta}/models/{model}:{verb}` in every spelling that real clients use, and its model list. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { decodeCountTokens } from '@/formats/generate-content/client-side/decode-request'
import { parseModelPath } from '@/formats/generate-content/client-side/path'
import { encodeCountTokens, generateContent, jsonArrayFraming } from '@/formats/generate-content/index'
import { answerChat } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import type { HttpDeps } from '@/http/deps'
import { pathOf, queryOf } from '@/http/request-line'

/**
 * Mounts the generate-content endpoints. No router can split model and verb, so
 * the path is parsed here, and the endpoints are described in wildcard-docs.ts.
 */
export function generateContentRoutes(deps: HttpDeps) {
  const answer = ({ request }: { request: Request }) => answerPath(deps, request)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return new Elysia({ name: 'generate-content-routes' })
    .post('/v1beta/*', answer, undocumented)
    .post('/v1/*', answer, undocumented)
    .post('/models/*', answer, undocumented)
    .post('/v1alpha/*', answer, undocumented)
    .post('/v1beta1/*', answer, undocumented)
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
