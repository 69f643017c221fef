/** OpenRouter's endpoints for a request's cost and for the account's credit. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import { BILLABLES, tokensOf, UNITS } from '@/chat/units'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { nano, nanoToUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import type { FoundGeneration } from '@/usage/generations'
import { askerOfUsage } from './usage'

const Count = Type.Integer({ minimum: 0 })
const MaybeCount = orNull(Count)
const MaybeText = orNull(Type.String())
/** Fields that OpenRouter's clients require and that this service doesn't have. */
const Unknown = Type.Null({ description: 'Always null here' })

const Tokens = Type.Object(
  { uncached: Count, cache_read: Count, cache_write_5m: Count, cache_write_1h: Count, output: Count, reasoning: Count },
  { description: 'By class, as they are priced; reasoning is a part of the output' },
)

const Unit = Type.Object({
  billable: oneOf(BILLABLES),
  unit: oneOf(UNITS),
  variant: Type.Optional(Type.String({ description: 'Such as a size and quality' })),
  count: Count,
})

const GenerationData = Type.Object(
  {
    id: Type.String({ description: 'The request’s id' }),
    request_id: Type.String(),
    upstream_id: orNull(Type.String(), { description: 'The answer’s id, if it is not derived from the request’s' }),
    status: Type.Integer({ description: 'HTTP status; 499: the client disconnected' }),
    error: orNull(Type.Object({ code: Type.String(), message: Type.String() }), {
      description: 'The reason why there was no answer',
    }),
    model: Type.String({ description: 'The model that answered; of a failed request the requested one' }),
    requested_model: MaybeText,
    router: orNull(Type.String(), { description: 'The requested tier' }),
    provider_name: MaybeText,
    total_cost: Type.Number({ description: 'The charge in USD' }),
    usage: Type.Number({ description: 'The same' }),
    rule: orNull(Type.String(), { description: 'The billing rule; null if nothing was charged' }),
    flags: Type.Array(Type.String()),
    tokens: Tokens,
    units: Type.Array(Unit, {
      description: 'Tokens of sounds and pictures, which are a part of the tokens above, and counts in other units',
    }),
    tools: Type.Array(Type.Object({ name: Type.String(), uses: Count, cost: Type.Number({ description: 'USD' }) })),
    tokens_prompt: Count,
    tokens_completion: Count,
    native_tokens_prompt: Count,
    native_tokens_completion: Count,
    native_tokens_reasoning: Count,
    native_tokens_cached: Count,
    native_tokens_completion_images: Count,
    data_rules: Type.Array(Type.String(), {
      description: 'Rules of where content may go that held, and whose they were',
    }),
    data_terms: orNull(Type.String(), {
      description: 'What was stated about content at the provider then; null without such rules',
    }),
    finish_reason: MaybeText,
    attempts: MaybeCount,
    route_reason: MaybeText,
    created_at: Type.String({ description: 'ISO 8601, UTC' }),
    first_token_ms: orNull(Type.Integer(), { description: 'From arrival to the first content' }),
    latency: orNull(Type.Integer(), { description: 'Milliseconds from arrival to the end' }),
    generation_time: orNull(Type.Integer(), { description: 'Milliseconds from the first content to the end' }),
    streamed: orNull(Type.Boolean()),
    cancelled: Type.Boolean({ description: 'Whether the client disconnected' }),
    client_format: Type.String(),
    key_id: Type.String(),
    origin: Type.String({ description: 'The calling app; empty if unknown' }),
    is_byok: Type.Boolean(),
    data_region: Type.String(),
    api_type: Unknown,
    app_id: Unknown,
    cache_discount: Unknown,
    external_user: Unknown,
    http_referer: Unknown,
    moderation_latency: Unknown,
    native_finish_reason: Unknown,
    num_fetches: Unknown,
    num_input_audio_prompt: Unknown,
    num_media_completion: Unknown,
    num_media_prompt: Unknown,
    num_search_results: Unknown,
    preset_id: Unknown,
    provider_responses: Unknown,
    service_tier: orNull(Type.String(), { description: 'The service tier of the charged prices; null: standard' }),
    session_id: Unknown,
    upstream_inference_cost: Unknown,
    user_agent: Unknown,
    web_search_engine: Unknown,
    workspace_id: Unknown,
  },
  { title: 'Generation' },
)

const NOT_KNOWN = Object.fromEntries(
  Object.entries(GenerationData.properties).flatMap(([name, schema]) => (schema === Unknown ? [[name, null]] : [])),
)

const Credits = Type.Object({
  data: Type.Object({
    total_credits: Type.Number({ description: 'USD; all credit so far' }),
    total_usage: Type.Number({ description: 'USD; the spent part' }),
  }),
})

const PRIVATE = { headers: { 'cache-control': 'no-store', ...NO_SNIFFING } }

export function generationRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'generation-routes' })
    .get('/v1/generation', ({ request }) => tellGeneration(deps, request), {
      detail: operation({
        tag: 'Usage',
        summary: 'Get the cost of a request, or why it failed',
        description:
          'As OpenRouter has it, with the charge’s rule and tokens by class. A charge is found as soon as the answer has ended, a request that failed within some ' +
          'seconds. A key finds what its member sees, a management key with `usage:read` everything of its account; all else is a 404.',
        parameters: [
          {
            name: 'id',
            in: 'query',
            required: true,
            description: 'The request’s id (`x-request-id`), or its answer’s',
            schema: { type: 'string', minLength: 1, maxLength: 128 },
          },
        ],
        responseSchema: Type.Object({ data: GenerationData }),
        errors: [400, 401, 403, 404, 429, 503],
      }),
    })
    .get('/v1/credits', ({ request }) => tellCredits(deps, request), {
      detail: operation({
        tag: 'Usage',
        summary: 'All credit so far, and the spent part',
        description:
          'As OpenRouter has it. A key whose member may not see the balance gets a 403; a management key needs `billing:read`.',
        responseSchema: Credits,
        errors: [400, 401, 403, 429, 503],
      }),
    })
}

/** Valid ids of requests and answers, ours or providers'. */
const ID = /^[\x21-\x7e]{1,128}$/

async function tellGeneration(deps: HttpDeps, request: Request): Promise<Response> {
  const asker = await askerOfUsage(deps, request)
  const id = new URL(request.url).searchParams.get('id') ?? ''
  if (!ID.test(id)) throw invalidRequest('id must be the id of a request or of its answer, 1 to 128 characters', 'id')
  const found = await deps.generations.find(asker, id)
  if (!found)
    throw new GatewayError('not_found', 'There is no request of this id, or it has not ended yet.', { param: 'id' })
  return Response.json({ data: found.kind === 'charged' ? charged(found) : failed(found) }, PRIVATE)
}

async function tellCredits(deps: HttpDeps, request: Request): Promise<Response> {
  const credits = await deps.reports.credits(await askerOfUsage(deps, request, 'billing:read'))
  if (credits === 'unseen') throw new GatewayError('forbidden', 'The member whose key this is may not see the balance.')
  const data = { total_credits: nanoToUsd(credits.total), total_usage: nanoToUsd(credits.spent) }
  return Response.json({ data }, PRIVATE)
}

function charged({ generation }: Extract<FoundGeneration, { kind: 'charged' }>) {
  const { usage, model, requestedModel, startedAtMs, durationMs, firstTokenMs, tools, requestId } = generation
  return {
    ...common(requestId, usage, nanoToUsd(generation.cost)),
    upstream_id: generation.answerId,
    status: generation.status,
    error: null,
    model,
    requested_model: requestedModel,
    router: requestedModel === model ? null : requestedModel,
    provider_name: generation.provider,
    rule: generation.rule,
    flags: generation.flags,
    tools: tools.map(({ name, uses, cost }) => ({ name, uses, cost: nanoToUsd(nano(cost)) })),
    finish_reason: generation.finish?.replace('-', '_') ?? null,
    service_tier: generation.serviceTier,
    data_rules: generation.dataRules ?? [],
    data_terms: generation.dataTerms,
    attempts: generation.attempts,
    route_reason: generation.routeReason,
    created_at: new Date(startedAtMs).toISOString(),
    first_token_ms: firstTokenMs,
    latency: durationMs,
    generation_time: durationMs - (firstTokenMs ?? 0),
    streamed: generation.stream,
    cancelled: generation.status === CLIENT_CLOSED_STATUS,
    client_format: generation.clientFormat,
    key_id: generation.keyId,
    origin: generation.app ?? '',
  }
}

function failed({ failure }: Extract<FoundGeneration, { kind: 'failed' }>) {
  const { requestId, model, code, words } = failure
  return {
    ...common(requestId, ZERO_USAGE, 0),
    upstream_id: null,
    status: failure.status,
    error: { code, message: words },
    model: model ?? '',
    requested_model: model,
    router: null,
    provider_name: null,
    rule: null,
    flags: [],
    tools: [],
    finish_reason: 'error',
    service_tier: null,
    data_rules: [],
    data_terms: null,
    attempts: null,
    route_reason: null,
    created_at: new Date(failure.atMs).toISOString(),
    first_token_ms: null,
    latency: null,
    generation_time: null,
    streamed: null,
    cancelled: failure.status === CLIENT_CLOSED_STATUS,
    client_format: failure.clientFormat,
    key_id: failure.keyId,
    origin: '',
  }
}

function common(requestId: string, usage: Usage, cost: number) {
  const { uncached, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning, units = [] } = usage
  const input = inputTokens(usage)
  return {
    ...NOT_KNOWN,
    id: requestId,
    request_id: requestId,
    total_cost: cost,
    usage: cost,
    tokens: {
      ...{ uncached, cache_read: cacheRead, cache_write_5m: cacheWrite5m, cache_write_1h: cacheWrite1h },
      ...{ output, reasoning },
    },
    units: [...units],
    tokens_prompt: input,
    tokens_completion: output,
    native_tokens_prompt: input,
    native_tokens_completion: output,
    native_tokens_reasoning: reasoning,
    native_tokens_cached: cacheRead,
    native_tokens_completion_images: tokensOf(units, 'output_image'),
    is_byok: false,
    data_region: 'global',
  }
}
