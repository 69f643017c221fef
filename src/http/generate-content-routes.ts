/** Family 3: `POST /{v1,v1beta}/models/{model}:{verb}` in every spelling that real clients use, and its model list. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { decodeCountTokens } from '@/formats/generate-content/decode-request'
import { encodeCountTokens, generateContent, jsonArrayFraming } from '@/formats/generate-content/index'
import { parseModelPath } from '@/formats/generate-content/path'
import { GenerateContentRequest } from '@/formats/generate-content/wire'
import { answerChat } from './answer-chat'
import { answerCount } from './answer-count'
import type { HttpDeps } from './deps'
import { errorResponse } from './errors'
import { INFERENCE_ERRORS, operation } from './openapi'
import { newRequestId } from './request-id'
import { pathOf, queryOf } from './request-line'

/** Mounts the generate-content endpoints. The model and the verb are one path segment to no router, so the path is parsed here. */
export function generateContentRoutes(deps: HttpDeps) {
  const answer = ({ request }: { request: Request }) => answerPath(deps, request)
  const documented = {
    parse: 'none',
    detail: operation({
      tag: 'Inference',
      summary: 'Generate content (family 3)',
      description:
        '`{model}:generateContent` answers in one piece, `{model}:streamGenerateContent` with a stream: server-sent events ' +
        'with `?alt=sse`, a JSON array without. `{model}:countTokens` counts for free. The model id follows the path with a ' +
        'bare slash or `%2F`, with or without `models/`; `/v1` works like `/v1beta`.',
      requestSchema: GenerateContentRequest,
      errors: INFERENCE_ERRORS,
    }),
  } as const
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return new Elysia({ name: 'generate-content-routes' })
    .post('/v1beta/models/*', answer, documented)
    .post('/v1beta/*', answer, undocumented)
    .post('/v1/*', answer, undocumented)
    .post('/models/*', answer, undocumented)
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
    default: {
      const error = new GatewayError('not_found', `There is no POST ${path.slice(0, 128)}.`)
      return errorResponse(error, generateContent, newRequestId(), deps.logger)
    }
  }
}
