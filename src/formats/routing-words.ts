/** Reads OpenRouter's and LiteLLM's equivalents of our `fallback` and `svc`, in every format. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { type DataRule, NO_PREFERENCES, type RoutePreferences, SORTS, type Sort } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { oneOf } from '@/lib/schemas'
import {
  fallbackSchema,
  MaxPriceSchema,
  namesIn,
  ProviderNames,
  readMaxPrice,
  readPreferences,
  refuseUnknown,
} from './preferences'

const UsageWish = Type.Object(
  {
    include: Type.Optional(
      Type.Boolean({
        description: 'Whether the last usage has `cost` (USD) and `cost_details`; see `x-svc-usage-record`',
      }),
    ),
  },
  { title: 'UsageWish', description: 'OpenRouter’s field for the cost in the answer' },
)

const ProviderWish = Type.Object(
  {
    order: ProviderNames,
    only: ProviderNames,
    ignore: ProviderNames,
    sort: Type.Optional(oneOf(SORTS)),
    max_price: MaxPriceSchema,
    allow_fallbacks: Type.Optional(
      Type.Boolean({ description: '`false`: only providers of `order`, or without an order the first of each model' }),
    ),
    data_collection: Type.Optional(
      oneOf(['allow', 'deny'], {
        description: '`deny`: only providers that are stated not to train on content; else a 404',
      }),
    ),
    zdr: Type.Optional(Type.Boolean({ description: 'The same as `svc.zero_retention`' })),
    require_parameters: Type.Optional(
      Type.Boolean({ description: 'Accepted; fields that constrain the answer are only omitted with `svc.lossy`' }),
    ),
  },
  { title: 'ProviderWish', description: 'OpenRouter’s words for `svc.providers`, `svc.sort` and `svc.max_price`' },
)

const PROVIDER_WORDS = Object.keys(ProviderWish.properties)

/** The schemas of the routing fields, within the format's limits. */
export function routingSchemas(limits: Parameters<typeof fallbackSchema>[0]) {
  return {
    usage: Type.Optional(UsageWish),
    models: Type.Optional(
      fallbackSchema(limits, 'OpenRouter’s word for `fallback`; the first is the model if there is no `model`'),
    ),
    provider: Type.Optional(ProviderWish),
    route: Type.Optional(Type.Literal('fallback', { description: 'Accepted without effect: it is always so' })),
  }
}

/** The model that a body names: without a `model`, the first of `models`. */
export function namedModel({ model, models }: JsonObject): JsonValue | undefined {
  return model ?? (Array.isArray(models) ? models[0] : undefined)
}

/** The body with the model that it names as `model`, so that its fields can be checked. */
export function withNamedModel(body: JsonObject): JsonObject {
  const named = body.model === undefined || body.model === null ? namedModel(body) : undefined
  return named === undefined ? body : { ...body, model: named }
}

type Wire = {
  fallback?: string[] | null | undefined
  fallbacks?: string[] | null | undefined
  models?: string[] | null | undefined
  svc?: unknown
  usage?: unknown
  provider?: unknown
}

/** A body's routing preferences in any of the spellings. Throws `invalid_request` for repeated or unknown fields. */
export function readRouting(wire: Wire): Pick<ChatRequest, 'fallback' | 'fallbackField' | 'preferences' | 'wantsCost'> {
  const own = readPreferences(wire.svc)
  const { usage, provider } = wire
  return {
    ...readFallback(wire),
    ...(isJsonObject(provider) ? { preferences: withProviderWish(own.preferences, provider) } : own),
    ...(isJsonObject(usage) && readUsageWish(usage)),
  }
}

function readUsageWish(usage: JsonObject): { wantsCost?: true } {
  refuseUnknown(usage, ['include'], 'usage')
  return usage.include === true ? { wantsCost: true } : {}
}

function readFallback({ fallback, models, fallbacks }: Wire): Pick<ChatRequest, 'fallback' | 'fallbackField'> {
  if (!models && !fallbacks) return { fallback: fallback ?? [] }
  const [first, second] = Object.entries({ fallback, models, fallbacks }).filter(([, list]) => list)
  if (first && second) throw invalidRequest(`${second[0]} and ${first[0]} mean the same; send one of them`, second[0])
  return models
    ? { fallback: models, fallbackField: 'models' }
    : { fallback: fallbacks ?? [], fallbackField: 'fallbacks' }
}

function withProviderWish(own: RoutePreferences = NO_PREFERENCES, provider: JsonObject): RoutePreferences {
  refuseUnknown(provider, PROVIDER_WORDS, 'provider')
  const { order, only, ignore, sort, maxPrice } = own
  if (order.length + only.length + ignore.length > 0 || sort !== undefined || maxPrice !== undefined)
    throw invalidRequest(
      'provider says what svc.providers, svc.sort and svc.max_price say; send one of them',
      'provider',
    )
  const data = [...(own.data ?? []), ...dataRules(provider)]
  const isAlone = provider.allow_fallbacks === false
  const wished = namesIn(provider.order)
  const allowed = namesIn(provider.only)
  const inOrder = isAlone ? wished.filter((name) => allowed.length === 0 || allowed.includes(name)) : []
  return {
    ...own,
    order: wished,
    only: inOrder.length > 0 ? inOrder : allowed,
    ignore: namesIn(provider.ignore),
    spelling: 'provider',
    ...(isAlone && wished.length === 0 && { firstTargetOnly: true }),
    ...(typeof provider.sort === 'string' && { sort: provider.sort as Sort }),
    ...(data.length > 0 && { data }),
    ...(isJsonObject(provider.max_price) && { maxPrice: readMaxPrice(provider.max_price, 'provider.max_price') }),
  }
}

function dataRules({ data_collection, zdr }: JsonObject): DataRule[] {
  return [
    ...(data_collection === 'deny' ? [{ kind: 'no-training', from: 'provider.data_collection' } as const] : []),
    ...(zdr === true ? [{ kind: 'zero-retention', from: 'provider.zdr' } as const] : []),
  ]
}
