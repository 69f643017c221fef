/** Makes a catalogue file from a provider's list of models, with public prices, limits and capabilities. It guesses no value. */
import type { Prices } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { MAX_PICO_PER_TOKEN, NANO_PER_USD } from '@/lib/money'
import { familyOf } from './families'
import { isPreview } from './generations'
import { type Listing, listingOf } from './listing'
import type { SuggestedProvider } from './suggested-providers'

/** A model in the provider's own list. */
export type ListedModel = {
  id: string
  name?: string
  created?: number
  contextLength?: number
  maxOutputTokens?: number
  /** The provider no longer serves it. */
  isRetired?: boolean
}

export type Suggestion = {
  /** The whole file; undefined if no model is left to offer. */
  file: JsonObject | undefined
  models: string[]
  /** Models that are omitted because public data lack the named fields. */
  unknown: { model: string; missing: string[] }[]
  retired: string[]
}

type SuggestionWish = {
  service: string
  marginPercent: number
  /** The day whose prices are used, `2026-11-24`. */
  day: string
  /** Whether the file also offers retired models and previews. */
  all: boolean
  /** Only these models, by the provider's names. */
  only?: readonly string[] | undefined
}

/** Kinds of models that the gateway sells. Other models are omitted. */
const SOLD_KINDS: ReadonlySet<string | undefined> = new Set(['chat', 'chat-by-responses', 'embedding'])
/** Changes to a provider's entry, for models that a chat-completions service offers only in the responses format. */
const BY_RESPONSES = { format: 'responses' } as const
const ALIAS = /^(?!(?:models|publishers|v1[a-z0-9]*)\/)[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/
const MAX_NAME = 128

export function suggestModels(
  provider: SuggestedProvider,
  listed: readonly ListedModel[],
  wish: SuggestionWish,
): Suggestion {
  const suggestion: Suggestion = { file: undefined, models: [], unknown: [], retired: [] }
  const entries: JsonObject[] = []
  for (const model of listed) {
    if (!provider.isReached(model.id) || (wish.only && !wish.only.includes(model.id))) continue
    const listing = listingOf(provider.lister, model.id)
    if (listing.kind !== undefined && !SOLD_KINDS.has(listing.kind)) continue
    if (!wish.all && isPast(model, listing, wish.day)) {
      suggestion.retired.push(model.id)
      continue
    }
    const entry = entryOf(provider, model, listing, wish)
    const missing = Array.isArray(entry) ? entry : entries.some(({ id }) => id === entry.id) ? ['an id of its own'] : []
    if (Array.isArray(entry) || missing.length > 0) suggestion.unknown.push({ model: model.id, missing })
    else entries.push(entry)
  }
  suggestion.models = entries.map(({ id }) => String(id))
  if (entries.length === 0) return suggestion
  const { name, entry } = provider
  const needsResponses = entries.some(({ targets }) => JSON.stringify(targets).includes(`"${responsesOf(name)}"`))
  const providers = {
    [name]: entry,
    ...(needsResponses && { [responsesOf(name)]: { ...entry, ...BY_RESPONSES } }),
  }
  suggestion.file = { service: wish.service, providers, models: entries }
  return suggestion
}

function responsesOf(name: string): string {
  return `${name}-responses`
}

function isPast({ id, isRetired = false }: ListedModel, { retires, isDeprecated }: Listing, day: string): boolean {
  return isRetired || isDeprecated || isPreview(id) || (retires !== undefined && retires < day)
}

function entryOf(
  provider: SuggestedProvider,
  model: ListedModel,
  listing: Listing,
  { service, marginPercent, day }: SuggestionWish,
): JsonObject | string[] {
  const isEmbedding = listing.kind === 'embedding'
  const terms = listing.termsOn(day)
  const isPriced = terms?.steps.every(({ prices }) => prices.input > 0 && (isEmbedding || prices.output > 0)) ?? false
  const contextLength = smaller(model.contextLength, listing.contextLength)
  const maxOutputTokens = model.maxOutputTokens ?? listing.maxOutputTokens
  const missing = [
    ...(listing.kind === undefined ? ['kind', 'capabilities'] : []),
    ...(isPriced ? [] : ['pricing']),
    ...(contextLength === undefined ? ['contextLength'] : []),
    ...(maxOutputTokens === undefined && !isEmbedding ? ['maxOutputTokens'] : []),
  ]
  if (!terms || contextLength === undefined || missing.length > 0) return missing
  const format: FormatName = listing.kind === 'chat-by-responses' ? BY_RESPONSES.format : provider.format
  const family = familyOf(format, model.id)
  const { name } = provider
  const target = {
    provider: format === provider.format ? name : responsesOf(name),
    model: model.id,
    ...(family.quirks.length > 0 && { quirks: [...family.quirks] }),
  }
  const common = {
    id: `${service}/${slugOf(model.id)}`,
    ...(ALIAS.test(model.id) && model.id.length <= MAX_NAME && { aliases: [model.id] }),
    ...(isEmbedding && { kind: 'embedding' }),
    name: (model.name ?? listing.name ?? model.id).slice(0, MAX_NAME),
    created: model.created ?? Date.parse(day) / 1000,
    ownedBy: name,
    source: sourceOf(model, listing, day),
    targets: [target],
    contextLength,
    ...(listing.retires !== undefined && listing.retires >= day && { expirationDate: listing.retires }),
    ...(family.tokenizerSafetyFactor !== undefined && { tokenizerSafetyFactor: family.tokenizerSafetyFactor }),
  }
  const [base, ...above] = terms.steps.map((step) => linesOf(step, marginPercent))
  if (isEmbedding) {
    const { inputPer1mTokens, costPer1mInputTokens } = base ?? {}
    return { ...common, pricing: { inputPer1mTokens, costPer1mInputTokens } as JsonObject }
  }
  const tools = provider.isVendor ? toolPricesOf(family.toolCosts ?? {}, marginPercent) : {}
  const steps = above.map((lines, index) => ({ aboveInputTokens: terms.steps[index + 1]?.above ?? 0, ...lines }))
  return {
    ...common,
    pricing: {
      ...(Object.keys(tools).length > 0 && { toolPrices: tools }),
      ...base,
      ...(steps.length > 0 && { steps }),
    },
    maxOutputTokens: Math.min(maxOutputTokens ?? contextLength, contextLength),
    capabilities: (listing.capabilities ?? []).filter((name) => !isPricedApart(name, terms.unread)),
  }
}

/** Whether a capability must be omitted: its medium has a price of its own, but would be sold at the price of text. */
function isPricedApart(capability: string, unread: readonly string[]): boolean {
  return (
    (capability === 'audio' && unread.includes('input_audio_mtok')) ||
    (capability === 'images' && unread.includes('input_image_mtok'))
  )
}

function sourceOf({ contextLength, maxOutputTokens }: ListedModel, { sources }: Listing, day: string): string {
  const own = contextLength === undefined && maxOutputTokens === undefined ? '' : "the provider's list and "
  return `prices of ${day} by ${sources.prices}; limits by ${own}${sources.limits}`
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function slugOf(model: string): string {
  return model
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .slice(0, MAX_NAME)
}

function toolPricesOf(costs: Readonly<Record<string, number>>, marginPercent: number): JsonObject {
  const prices = Object.entries(costs).map(([tool, costUsd]) => {
    const usd = Math.ceil((Math.round(costUsd * NANO_PER_USD) * (100 + marginPercent)) / 100) / NANO_PER_USD
    return [tool, { usd, costUsd }] as const
  })
  return Object.fromEntries(prices)
}

function linesOf({ prices, hasCache }: { prices: Prices; hasCache: boolean }, marginPercent: number): JsonObject {
  // Rounds up to whole pico-USD, so that a price is never below cost plus margin.
  const usd = (pico: number) => pico / 1_000_000
  const price = (pico: number) => usd(Math.min(Math.ceil((pico * (100 + marginPercent)) / 100), MAX_PICO_PER_TOKEN))
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = prices
  return {
    inputPer1mTokens: price(input),
    outputPer1mTokens: price(output),
    ...(hasCache && {
      cacheReadPer1mTokens: price(cacheRead),
      cacheWritePer1mTokens: price(cacheWrite5m),
      cacheWrite1hPer1mTokens: price(cacheWrite1h),
    }),
    costPer1mInputTokens: usd(input),
    costPer1mOutputTokens: usd(output),
    ...(hasCache && {
      costPer1mCacheReadTokens: usd(cacheRead),
      costPer1mCacheWriteTokens: usd(cacheWrite5m),
      costPer1mCacheWrite1hTokens: usd(cacheWrite1h),
    }),
  }
}
