/** Shows callers how a request would be routed and what it would hold and cost, without spending anything or asking a provider. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import { ChatCompletionsRequest } from '@/formats/chat-completions/client-side/wire'
import { modelOfResource } from '@/formats/generate-content/client-side/path'
import { GenerateContentRequest } from '@/formats/generate-content/wire'
import { MessagesRequest } from '@/formats/messages/wire'
import { formatNamed } from '@/http/answer-chat'
import { authenticate } from '@/http/auth'
import { readJsonBody } from '@/http/body'
import type { HttpDeps } from '@/http/deps'
import { errorResponse } from '@/http/errors'
import { operation } from '@/http/openapi'
import { newRequestId } from '@/http/request-id'
import { queryOf } from '@/http/request-line'
import { requireActiveKey } from '@/http/require-active-key'
import { isJsonObject, type JsonObject } from '@/lib/json'
import type { RouteExplanation } from '@/routing/explain'
import { sessionOf } from '@/routing/plan/stickiness'

const usd = Type.Number({ description: 'USD' })

const RoutePlan = Type.Object({
  requested: Type.String({ description: 'The model or tier as the request names it' }),
  reason: Type.String({ description: 'What `x-svc-route-reason` would say if the first target answered' }),
  hold_usd: Type.Number({
    description: 'USD that the request would reserve: the most it can cost at the dearest model',
  }),
  estimated_input_tokens: Type.Integer(),
  targets: Type.Array(
    Type.Object({
      model: Type.String(),
      provider: Type.String(),
      available: Type.Boolean({ description: 'Whether a call would be let through right now' }),
      usual_latency_ms: Type.Union([Type.Number(), Type.Null()]),
    }),
    { description: 'In the order in which they would be tried' },
  ),
  models: Type.Array(Type.Object({ model: Type.String(), hold_usd: usd, estimated_cost_usd: usd })),
  passed_over: Type.Array(
    Type.Object({
      model: Type.String(),
      requirements: Type.Array(Type.String()),
      reasons: Type.Array(Type.String()),
    }),
    { description: 'Models that cannot serve the request, and why' },
  ),
  tier: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
    description: 'How a tier read the request and ranked its candidates; null where a model was named',
  }),
})

/** Mounts `POST /v1/route`. */
export function routeRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'route-routes' }).post('/v1/route', ({ request }) => answerRoute(deps, request), {
    parse: 'none',
    detail: {
      ...operation({
        tag: 'Inference',
        summary: 'Explain how a request would be routed',
        description:
          'Free: reserves nothing and calls no provider. Takes the body of any of the three families, told by its shape or ' +
          'by the query parameter `format`; a generate-content body names its model in `model`. All amounts are USD.',
        requestSchema: Type.Union([ChatCompletionsRequest, MessagesRequest, GenerateContentRequest]),
        responseSchema: RoutePlan,
        errors: [400, 401, 403, 404, 413, 415, 503],
      }),
      parameters: [
        { name: 'format', in: 'query', required: false, schema: { type: 'string', enum: [...FORMAT_NAMES] } },
      ],
    },
  })
}

async function answerRoute(deps: HttpDeps, request: Request): Promise<Response> {
  const requestId = newRequestId()
  let format = formatNamed(deps, 'chat-completions')
  try {
    if (deps.isDraining()) throw new GatewayError('overloaded', 'The service is restarting.', { retryAfterSeconds: 1 })
    const named = namedFormat(request)
    if (named) format = formatNamed(deps, named)
    const payer = await authenticate(deps.identify, request)
    const { allowedModels } = await requireActiveKey(deps, payer)
    const { json, bytes } = await readJsonBody(request, deps)
    if (!named) format = formatNamed(deps, formatOfBody(json, request.headers))
    const chat = format.name === 'generate-content' ? decodeWithModel(deps, json) : format.decodeRequest(json, {})
    const session = sessionOf(payer.accountId, chat, request.headers.get('x-svc-session') ?? undefined)
    const plan = await deps.router.plan(chat, { clientFormat: format.name, session, allowedModels })
    const explanation: RouteExplanation = deps.router.explain(plan, chat, bytes)
    return Response.json(explanation, { headers: { 'x-request-id': requestId, 'cache-control': 'no-store' } })
  } catch (error) {
    return errorResponse(error, format, requestId, deps.logger)
  }
}

function namedFormat(request: Request): FormatName | undefined {
  const text = new URLSearchParams(queryOf(request.url)).get('format')
  if (text === null) return undefined
  const named = FORMAT_NAMES.find((name) => name === text)
  if (named) return named
  throw new GatewayError('invalid_request', `format must be one of ${FORMAT_NAMES.join(', ')}`, { param: 'format' })
}

/** Fields that only a messages body has. `thinking` is not among them: providers of family 1 take a field of that name, too. */
const MESSAGES_FIELDS = ['system', 'stop_sequences', 'output_config'] as const

/** Which family's body this is. What could be several is family 1's. */
function formatOfBody(body: JsonObject, headers: Headers): FormatName {
  if ('contents' in body) return 'generate-content'
  if (headers.has('anthropic-version')) return 'messages'
  if (MESSAGES_FIELDS.some((name) => name in body) || hasMessagesParts(body)) return 'messages'
  return 'chat-completions'
}

function hasMessagesParts({ tools, messages }: JsonObject): boolean {
  const entries = [tools, messages].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isJsonObject)
  const parts = entries.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(isJsonObject)
  return entries.some((entry) => 'input_schema' in entry) || parts.some(({ type }) => MESSAGES_PARTS.has(String(type)))
}

const MESSAGES_PARTS: ReadonlySet<string> = new Set(['image', 'document', 'tool_use', 'tool_result', 'thinking'])

/** This family names the model in the path, of which there is none here. */
function decodeWithModel(deps: HttpDeps, { model, ...body }: JsonObject): ChatRequest {
  if (typeof model !== 'string') throw new GatewayError('invalid_request', 'model must be a string', { param: 'model' })
  return formatNamed(deps, 'generate-content').decodeRequest(body, { model: modelOfResource(model), stream: false })
}
