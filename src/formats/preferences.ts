/** The body field `svc` with the caller's routing preferences, in every format. It is never sent to a provider. */
import { type ArrayOptions, type StringOptions, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import {
  type DataRule,
  MAX_CACHE_SECONDS,
  type MaxPrice,
  REGION_PATTERN,
  type RoutePreferences,
  SORTS,
  type Sort,
} from '@/chat/preferences'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { type Pico, priceToPico } from '@/lib/money'
import { oneOf } from '@/lib/schemas'

const USD_PER_1M = { minimum: 0, maximum: 1_000_000 }
export const ProviderNames = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    maxItems: 64,
    description: 'Names as `x-svc-provider` shows them',
  }),
)

const FIELDS = {
  quality: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The minimum quality of a tier’s candidates. The header `x-svc-quality` overrides it.',
    }),
  ),
  providers: Type.Optional(
    Type.Object(
      { order: ProviderNames, only: ProviderNames, ignore: ProviderNames },
      { title: 'PreferredProviders', description: 'Providers to try first, the only ones, or those to exclude' },
    ),
  ),
  regions: Type.Optional(
    Type.Array(Type.String({ pattern: REGION_PATTERN }), {
      minItems: 1,
      maxItems: 16,
      description:
        'Only providers are asked that are stated to process content in one of these: `eu` means `eu-central-1` too; else a 404',
    }),
  ),
  sort: Type.Optional(oneOf(SORTS, { description: 'What decides among a tier’s candidates and a model’s targets' })),
  cache: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_CACHE_SECONDS,
      description:
        'The answer may be that of an equal request at most this many seconds ago, and is stored for as long. The header `x-svc-cache` overrides it.',
    }),
  ),
  lossy: Type.Optional(
    Type.Boolean({
      description:
        'Whether fields that constrain the answer (`logit_bias`, `logprobs`, `guided_json` and others) may be left out where the model speaks a format without them; otherwise that is a 400. The header `x-svc-lossy` says the same.',
    }),
  ),
}
const ZeroRetention = Type.Optional(
  Type.Boolean({ description: 'Whether only providers are asked that are stated to keep no content; else a 404' }),
)
const MAX_PRICES = ['input', 'output', 'prompt', 'completion'] as const
export const MaxPriceSchema = Type.Optional(
  Type.Object(Object.fromEntries(MAX_PRICES.map((name) => [name, Type.Optional(Type.Number(USD_PER_1M))])), {
    description:
      'USD per 1,000,000 tokens: dearer models are not asked. `prompt` and `completion` mean input and output.',
  }),
)
const DESCRIPTION = 'What routing is to heed for this request; an extension of this service'

/** The schema of the field; `maxPrice` is the format's spelling. */
export function preferencesSchema(maxPrice: 'max_price' | 'maxPrice' = 'max_price') {
  const title = maxPrice === 'max_price' ? 'RoutingPreferences' : 'RoutingPreferencesInCamelCase'
  const zeroRetention = maxPrice === 'max_price' ? 'zero_retention' : 'zeroRetention'
  return Type.Object(
    { ...FIELDS, [maxPrice]: MaxPriceSchema, [zeroRetention]: ZeroRetention },
    { title, description: DESCRIPTION },
  )
}

/** The schema of `fallback`, within the format's limits. */
export function fallbackSchema(
  limits: { modelChars: StringOptions; fallback: ArrayOptions },
  description = 'Models to try in order when the first fails; an extension of this service',
) {
  return Type.Array(Type.String(limits.modelChars), {
    ...limits.fallback,
    description,
  })
}

/** Reads a validated field. Throws `invalid_request` for an unknown name, and for a price given twice. */
export function readPreferences(svc: unknown): { preferences?: RoutePreferences } {
  if (!isJsonObject(svc)) return {}
  const spelling = 'maxPrice' in svc ? 'maxPrice' : 'max_price'
  const zeroRetention = 'zeroRetention' in svc ? 'zeroRetention' : 'zero_retention'
  refuseUnknown(svc, ['quality', spelling, 'providers', 'sort', 'lossy', zeroRetention, 'regions', 'cache'], 'svc')
  const providers = isJsonObject(svc.providers) ? svc.providers : {}
  refuseUnknown(providers, ['order', 'only', 'ignore'], 'svc.providers')
  const preferences: RoutePreferences = {
    order: namesIn(providers.order),
    only: namesIn(providers.only),
    ignore: namesIn(providers.ignore),
  }
  if (typeof svc.quality === 'number') preferences.quality = svc.quality
  if (typeof svc.sort === 'string') preferences.sort = svc.sort as Sort
  if (svc.lossy === true) preferences.lossy = true
  if (typeof svc.cache === 'number') preferences.cacheSeconds = svc.cache
  const data: DataRule[] = []
  const isZero = svc[zeroRetention] ?? false
  // A format's schema checks one of the two spellings. The other is checked here, so that no data rule is ignored.
  if (typeof isZero !== 'boolean')
    throw invalidRequest(`svc.${zeroRetention} must be true or false`, `svc.${zeroRetention}`)
  if (isZero) data.push({ kind: 'zero-retention', from: `svc.${zeroRetention}` })
  const regions = namesIn(svc.regions)
  if (regions.length > 0) data.push({ kind: 'regions', regions, from: 'svc.regions' })
  if (data.length > 0) preferences.data = data
  const maxPrice = svc[spelling]
  if (isJsonObject(maxPrice)) preferences.maxPrice = readMaxPrice(maxPrice, `svc.${spelling}`)
  return { preferences }
}

/** The texts in a validated list; empty without a list. */
export function namesIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []
}

/** Throws `invalid_request` for an unknown field, so that a misspelt preference is not ignored. */
export function refuseUnknown(object: JsonObject, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const param = `${path}.${unknown.slice(0, 64)}`
  throw invalidRequest(`${param} is not known; ${path} takes ${known.join(', ')}`, param)
}

/** Reads the price limits. Throws `invalid_request` for an unknown or repeated price, or one with too many decimals. */
export function readMaxPrice(prices: JsonObject, path: string): MaxPrice {
  refuseUnknown(prices, MAX_PRICES, path)
  const input = readPrice(prices, 'input', 'prompt', path)
  const output = readPrice(prices, 'output', 'completion', path)
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
}

function readPrice(prices: JsonObject, name: string, otherName: string, path: string): Pico | undefined {
  if (prices[name] !== undefined && prices[otherName] !== undefined) {
    throw invalidRequest(`${path}.${name} and ${path}.${otherName} mean the same; send one of them`, `${path}.${name}`)
  }
  const said = prices[name] === undefined ? otherName : name
  const usd = prices[said]
  if (typeof usd !== 'number') return undefined
  const price = priceToPico(usd)
  const param = `${path}.${said}`
  if (price === undefined) throw invalidRequest(`${param} must not be finer than 0.000001`, param)
  return price
}
