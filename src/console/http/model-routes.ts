/** The route of the models page: all models with their prices, computed once per catalogue. */

import { type Static, Type } from '@sinclair/typebox'
import { providersWithTerms, ShownTerms } from '@/catalog/data-terms'
import { linePrice } from '@/catalog/losses'
import { type CatalogSource, perCatalog } from '@/catalog/reload/live-catalog'
import { dearestToolPrices } from '@/catalog/tool-allowance'
import { CAPABILITIES, MODEL_KINDS, type Model, type Prices, type Tier } from '@/catalog/types'
import { BILLABLES, UNITS } from '@/chat/units'
import { titled } from '@/http/openapi/titled'
import { formatPrice, formatUsd } from '@/lib/money'
import { oneOf } from '@/lib/schemas'
import { type GuardDeps, guarded } from './guard'

const price = (description: string) => Type.String({ description: `${description}, decimal USD per 1,000,000 tokens` })

const PriceList = titled('ModelPrices', {
  input: price('Input'),
  cacheRead: price('Input read from a cache'),
  cacheWrite5m: price('Input written to a cache for five minutes'),
  cacheWrite1h: price('Input written to a cache for an hour'),
  output: price('Output, reasoning included'),
})

const ModelBody = Type.Object({
  id: Type.String(),
  kind: oneOf(MODEL_KINDS),
  name: Type.String(),
  created: Type.String({ description: 'ISO 8601' }),
  ownedBy: Type.String(),
  providers: Type.Array(Type.String(), { description: 'In the order in which they are tried' }),
  dataTerms: Type.Array(ShownTerms, { description: 'What the operator states about content at each provider' }),
  prices: PriceList,
  priceSteps: Type.Array(Type.Object({ aboveInputTokens: Type.Integer(), prices: PriceList }), {
    description: 'What the whole request costs once its input is longer; ascending',
  }),
  priceLines: Type.Array(
    Type.Object({
      billable: oneOf(BILLABLES),
      unit: oneOf(UNITS),
      variant: Type.Optional(Type.String({ description: 'Such as a size and quality' })),
      usd: Type.String({ description: 'Per 1,000,000 tokens or characters, or per other unit' }),
    }),
    { description: 'Prices of sounds and pictures, and by other units than tokens' },
  ),
  toolPrices: Type.Array(
    Type.Object({
      tool: Type.String(),
      usd: Type.String(),
      per: oneOf(['use', 'request']),
    }),
    { description: 'Tools that run at the provider' },
  ),
  contextLength: Type.Integer(),
  maxOutputTokens: Type.Integer(),
  capabilities: Type.Array(Type.String()),
  fallback: Type.Array(Type.String(), { description: 'Models that are tried if this one fails' }),
})
export type ModelBody = Static<typeof ModelBody>

const TierBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created: Type.String({ description: 'ISO 8601' }),
  strategy: Type.String(),
  contextLength: Type.Integer(),
  candidates: Type.Array(Type.String(), {
    description: 'The models that it chooses from; the chosen one’s price applies',
  }),
})
export type TierBody = Static<typeof TierBody>

const ModelCatalogue = Type.Object({ models: Type.Array(ModelBody), tiers: Type.Array(TierBody) })
export type ModelCatalogue = Static<typeof ModelCatalogue>

export function modelRoutes(deps: GuardDeps & { catalog: CatalogSource }) {
  const catalogue = perCatalog(deps.catalog, ({ models, tiers }) => ({
    models: [...models.values()].map(modelBody),
    tiers: [...tiers.values()].map(tierBody),
  }))
  return guarded(deps, 'model-routes', '/dashboard/api/models').get('', catalogue, {
    signedIn: true,
    response: ModelCatalogue,
    detail: { summary: 'List models and tiers', description: 'With all prices, in the catalogue’s order.' },
  })
}

function modelBody(model: Model): ModelBody {
  const { pricing } = model
  return {
    id: model.id,
    kind: model.kind,
    name: model.name,
    created: momentOf(model.created),
    ownedBy: model.ownedBy,
    providers: [...new Set(model.targets.map((target) => target.provider.name))],
    dataTerms: providersWithTerms([model]),
    prices: priceList(pricing.base),
    priceSteps: pricing.steps.map((step) => ({
      aboveInputTokens: step.aboveInputTokens,
      prices: priceList(step.prices),
    })),
    priceLines: (pricing.lines ?? []).map(({ price, ...line }) => ({
      ...line,
      usd: linePrice({ ...line, price }),
    })),
    toolPrices: [...dearestToolPrices(model.targets)].map(([tool, { price, per }]) => ({
      tool,
      usd: formatUsd(price),
      per,
    })),
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    capabilities: CAPABILITIES.filter((capability) => model.capabilities.has(capability)),
    fallback: model.fallback,
  }
}

function tierBody(tier: Tier): TierBody {
  const { id, name, created, strategy, contextLength, candidates } = tier
  return {
    id,
    name,
    strategy,
    contextLength,
    created: momentOf(created),
    candidates: candidates.map((model) => model.id),
  }
}

function priceList(prices: Prices): typeof PriceList.static {
  return {
    input: formatPrice(prices.input),
    cacheRead: formatPrice(prices.cacheRead),
    cacheWrite5m: formatPrice(prices.cacheWrite5m),
    cacheWrite1h: formatPrice(prices.cacheWrite1h),
    output: formatPrice(prices.output),
  }
}

function momentOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString()
}
