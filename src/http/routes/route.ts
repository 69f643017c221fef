/** The endpoint that shows a request's route, hold and cost, without spending or calling a provider. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, restarting } from '@/chat/error'
import type { Format } from '@/formats/format'
import { explainRequest } from '@/gateway/explain-request'
import { authenticate } from '@/http/auth'
import type { HttpDeps } from '@/http/deps'
import { errorResponse } from '@/http/errors'
import { exampleModel } from '@/http/openapi/example-model'
import { lossyParameter, operation, QUALITY_PARAMETER } from '@/http/openapi/operation'
import { NO_SNIFFING, openToPage } from '@/http/pages'
import { withPreferenceHeaders } from '@/http/preference-headers'
import { defaultFormat, formatOfBody } from '@/http/request-format'
import { newRequestId } from '@/http/request-id'
import { queryOf } from '@/http/request-line'
import { resumeRequest } from '@/http/resume'
import { sessionNameOf } from '@/http/session-name'
import { type FreeRequest, openFree } from '@/http/share/free-request'
import { permissionOf } from '@/ledger/allowed'
import { orNull } from '@/lib/schemas'
import { openLine } from '@/metrics/request-line'

const Usd = Type.Number({ description: 'USD' })

const RoutePlan = Type.Object({
  requested: Type.String({ description: 'The model or tier as the request names it' }),
  reason: Type.String({ description: 'The `x-svc-route-reason` if the first target answers' }),
  hold_usd: Type.Number({
    description: 'USD to reserve: the most that the request can cost at any model',
  }),
  estimated_input_tokens: Type.Integer(),
  targets: Type.Array(
    Type.Object({
      model: Type.String(),
      provider: Type.String(),
      available: Type.Boolean({ description: 'Whether a call would be admitted now' }),
      usual_latency_ms: orNull(Type.Number()),
      usual_tokens_per_second: orNull(Type.Number()),
    }),
    { description: 'In the order of attempts' },
  ),
  models: Type.Array(Type.Object({ model: Type.String(), hold_usd: Usd, estimated_cost_usd: Usd })),
  passed_over: Type.Array(
    Type.Object({
      model: Type.String(),
      requirements: Type.Array(Type.String()),
      reasons: Type.Array(Type.String()),
    }),
    { description: 'Models that cannot serve the request, and why' },
  ),
  preferences: orNull(Type.Object({}, { additionalProperties: true }), {
    description:
      'What `svc` and `x-svc-quality` ask for, as it is understood, and in `data` also the rules of account, member and key; the models that it rules out are among `passed_over`, ' +
      'targets of other models in `ruled_out_targets`. null where nothing is asked for',
  }),
  tier: orNull(Type.Object({}, { additionalProperties: true }), {
    description: 'How a tier rated the request and ranked its candidates; null for a model',
  }),
})

export function routeRoutes(deps: HttpDeps) {
  const formats = [...deps.formats.values()]
  return new Elysia({ name: 'route-routes' }).post('/v1/route', ({ request }) => answerRoute(deps, request), {
    parse: 'none',
    detail: operation({
      tag: 'Inference',
      summary: 'Explain how a request would be routed',
      description:
        'Free: reserves nothing and calls no provider. Takes the body of any family, told by its shape or by the query ' +
        'parameter `format`; a body whose family names the model in the path has it in `model`. All amounts are USD.',
      formats: formats as [Format, ...Format[]],
      requestSchema: Type.Union(formats.map((format) => format.requestSchema)),
      examples: {
        text: {
          summary: 'A question to a model',
          value: {
            model: exampleModel(),
            messages: [{ role: 'user', content: 'Why is the sky blue?' }],
            max_tokens: 200,
          },
        },
      },
      responseSchema: RoutePlan,
      errors: [400, 401, 403, 404, 413, 415, 503],
      parameters: [
        QUALITY_PARAMETER,
        lossyParameter(formats),
        {
          name: 'format',
          in: 'query',
          schema: { type: 'string', enum: formats.map((format) => format.name) },
        },
      ],
    }),
  })
}

async function answerRoute(deps: HttpDeps, request: Request): Promise<Response> {
  const requestId = newRequestId()
  let format = defaultFormat(deps.formats)
  const line = openLine('route', format.name, '/v1/route', {
    requestId,
    signal: request.signal,
    arrivedMonotonicMs: deps.clock.monotonic(),
  })
  let free: FreeRequest | undefined
  try {
    if (deps.isDraining()) throw restarting()
    const named = namedFormat(deps, request)
    format = named ?? format
    const payer = await authenticate(deps, request)
    line.payer = payer
    free = await openFree(deps, request, payer)
    const permitted = permissionOf(free.key)
    const { body, bytes, share } = await free.read()
    format = named ?? formatOfBody(deps.formats, body, request.headers)
    line.format = format.name
    const resumed = await resumeRequest(deps, { format, payer, body, bytes, share })
    const chat = withPreferenceHeaders(format.decodeLoneBody(resumed?.body ?? body), request.headers)
    line.requestedModel = chat.model
    line.stream = chat.stream
    const session = deps.router.sessionOf(chat, payer.accountId, sessionNameOf(request.headers))
    const origin = { ...permitted, clientFormat: format.name, session }
    const plan = await deps.router.plan(chat, origin)
    const explanation = explainRequest(deps.router, plan, chat, resumed?.bytes ?? bytes)
    const headers = { 'x-request-id': requestId, 'cache-control': 'no-store', ...NO_SNIFFING }
    deps.requestLog.answeredFree(line)
    return openToPage(request, Response.json(explanation, { headers }))
  } catch (error) {
    const response = errorResponse(error, format, requestId, deps.logger)
    deps.requestLog.refused(line, request, error, response.status)
    return openToPage(request, response)
  } finally {
    free?.end()
  }
}

function namedFormat({ formats }: HttpDeps, request: Request): Format | undefined {
  const text = new URLSearchParams(queryOf(request.url)).get('format')
  if (text === null) return undefined
  const named = formats.values().find(({ name }) => name === text)
  if (named) return named
  throw new GatewayError('invalid_request', `format must be one of ${[...formats.keys()].join(', ')}`, {
    param: 'format',
  })
}
