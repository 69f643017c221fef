/** Entries of the catalogue for what a provider lists in public. What is not listed is left open and named, and never guessed. */
import { calcPrice, findProvider, type ModelInfo, type Provider } from '@pydantic/genai-prices'
import { dependencies } from '#package.json'
import { PRESETS, type Preset } from '@/catalog/dialects/presets'
import type { ProviderFile } from '@/catalog/schema'
import type { Prices } from '@/catalog/types'
import type { JsonObject } from '@/lib/json'
import { MAX_PICO_PER_TOKEN } from '@/lib/money'
import { pricesAt, stepsOf } from './listed-prices'

const PACKAGE = '@pydantic/genai-prices'
/** The day on which the version came out that is in use: its prices are no younger. */
export const RELEASED = { version: '0.1.8', on: '2026-09-23' }

type Suggestion = {
  /** Where the prices are from. */
  source: string
  /** Those of this day, `2026-11-24`. */
  asOf: string
  providers: Record<string, JsonObject>
  models: JsonObject[]
  /** What each model lacks before it can be sold. */
  open: { model: string; fields: string[] }[]
  /** What is listed and not suggested. */
  leftOut: { model: string; why: string }[]
}

/** The request: the margin above cost, and perhaps only some models, by the provider's names. */
type SuggestionWish = {
  service: string
  marginPercent: number
  day: string
  only?: readonly string[] | undefined
}

/** A provider that entries can be suggested for: what its entry says, and which models are reached that way. */
type Suggested = { entry: JsonObject; lister: string; isReached(model: string): boolean }

const ALL = () => true
const CLAUDE = (model: string) => model.includes('claude')
const OTHERS = (model: string) => !model.includes('claude')

/** Vendors who publish a format themselves. */
const VENDORS: ReadonlyMap<string, Pick<ProviderFile, 'format'> & { baseUrl: string }> = new Map([
  ['openai', { format: 'chat-completions', baseUrl: 'https://api.openai.com/v1' }],
  ['anthropic', { format: 'messages', baseUrl: 'https://api.anthropic.com' }],
  ['google', { format: 'generate-content', baseUrl: 'https://generativelanguage.googleapis.com' }],
])

/** Clouds: the source of prices, further properties of an entry, and the models that it reaches. */
const CLOUDS: ReadonlyMap<string, Omit<Suggested, 'entry'> & { needs: JsonObject }> = new Map([
  ['azure', { lister: 'azure', isReached: OTHERS, needs: { baseUrl: 'https://RESOURCE.openai.azure.com/openai/v1' } }],
  [
    'foundry',
    { lister: 'azure', isReached: CLAUDE, needs: { baseUrl: 'https://RESOURCE.services.ai.azure.com/anthropic' } },
  ],
  [
    'bedrock',
    { lister: 'aws', isReached: OTHERS, needs: { baseUrl: 'https://bedrock-runtime.REGION.amazonaws.com/openai/v1' } },
  ],
  [
    'bedrock-anthropic',
    { lister: 'aws', isReached: CLAUDE, needs: { baseUrl: 'https://bedrock-runtime.REGION.amazonaws.com/anthropic' } },
  ],
  ['vertex', { lister: 'google', isReached: OTHERS, needs: { project: 'PROJECT', location: 'global' } }],
  ['vertex-anthropic', { lister: 'google', isReached: CLAUDE, needs: { project: 'PROJECT', location: 'global' } }],
])

/** The names that {@link suggestModels} knows. */
export function suggestedProviders(): string[] {
  return [...VENDORS.keys(), ...PRESETS.keys()].filter((name) => reachedModels(name).length > 0).sort()
}

/** Suggests entries for the provider `name`; undefined if its prices are not listed. */
export function suggestModels(name: string, wish: SuggestionWish): Suggestion | undefined {
  const lister = listerOf(name)
  const suggested = suggestedProvider(name)
  if (!lister || !suggested) return undefined
  const { service, marginPercent, day, only } = wish
  const reached = reachedModels(name)
  if (reached.length === 0) return undefined
  const suggestion: Suggestion = {
    source: `${PACKAGE} ${dependencies[PACKAGE]}, released on ${RELEASED.on}`,
    asOf: day,
    providers: { [name]: suggested.entry },
    models: [],
    open: [],
    leftOut: [],
  }
  const ids = new Set<string>()
  for (const model of reached) {
    if (only && !only.includes(model.id)) continue
    const terms = termsOf(model, lister, day)
    const id = `${service}/${model.id
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]+/g, '-')
      .replaceAll(/^[.-]+|[.-]+$/g, '')}`
    const why =
      typeof terms === 'string' ? terms : ids.has(id) ? `its id would be ${id}, which is another's` : undefined
    if (typeof terms === 'string' || why !== undefined) {
      suggestion.leftOut.push({ model: model.id, why: why ?? '' })
      continue
    }
    ids.add(id)
    const { context_window: contextLength } = model
    suggestion.models.push({
      id,
      name: model.name ?? model.id,
      ownedBy: name,
      targets: [{ provider: name, model: model.id }],
      pricing: pricingOf(terms, marginPercent),
      ...(contextLength !== undefined && { contextLength }),
    })
    const fields = [
      'created',
      'maxOutputTokens',
      'capabilities',
      ...(contextLength === undefined ? ['contextLength'] : []),
    ]
    const otherPrices = terms.unread.map((unit) => `a price for ${unit}, or nothing that costs it`)
    suggestion.open.push({ model: id, fields: [...fields, ...otherPrices] })
  }
  for (const model of only ?? []) {
    if (reached.some(({ id }) => id === model)) continue
    suggestion.leftOut.push({ model, why: 'nobody lists it' })
  }
  return suggestion
}

/** What is listed of the provider's models. */
function reachedModels(name: string): ModelInfo[] {
  const suggested = suggestedProvider(name)
  return listerOf(name)?.models.filter(({ id }) => suggested?.isReached(id)) ?? []
}

function listerOf(name: string): Provider | undefined {
  const suggested = suggestedProvider(name)
  if (!suggested) return undefined
  const { lister } = suggested
  return findProvider(lister.includes('://') ? { providerApiUrl: lister } : { providerId: lister })
}

function suggestedProvider(name: string): Suggested | undefined {
  const vendor = VENDORS.get(name)
  if (vendor) return { entry: { ...vendor, keys: [variableOf(name)] }, lister: vendor.baseUrl, isReached: ALL }
  const preset = PRESETS.get(name)
  if (!preset) return undefined
  const cloud = CLOUDS.get(name)
  const keys = hasOwnCredential(preset) ? {} : { keys: [variableOf(name)] }
  const entry = { preset: name, ...cloud?.needs, ...keys }
  if (cloud) return { ...cloud, entry }
  return preset.entry.baseUrl === undefined ? undefined : { entry, lister: preset.entry.baseUrl, isReached: ALL }
}

function hasOwnCredential({ entry: { auth } }: Preset): boolean {
  return auth?.type === 'none' || auth?.type === 'google'
}

function variableOf(name: string): string {
  return `\${${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY}`
}

/** The prices of a model from a size of input on; `unread` are priced units other than text. */
type Terms = { steps: { above: number; prices: Prices; hasCache: boolean }[]; unread: string[] }

const READ_UNITS = new Set(['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok'])

/** Or why the model can't be suggested. */
function termsOf(model: ModelInfo, provider: Provider, day: string): Terms | string {
  if (model.deprecated) return 'is listed as deprecated'
  const priced = calcPrice({ input_tokens: 1 }, model.id, { provider, timestamp: new Date(`${day}T12:00:00Z`) })
  if (priced?.model.id !== model.id) return 'is not told from another by its name'
  const { model_price: listed } = priced
  if (listed.input_mtok === undefined) return 'no price of input is listed'
  if (listed.output_mtok === undefined) return 'no price of output is listed: it may embed, or be paid by another unit'
  const hasCache = listed.cache_read_mtok !== undefined || listed.cache_write_mtok !== undefined
  const steps = [0, ...stepsOf(listed)].map((above) => ({ above, prices: pricesAt(listed, above + 1, []), hasCache }))
  if (steps.some(({ prices }) => prices.input === 0 || prices.output === 0))
    return 'is listed as free: there is no price to begin with'
  const unread = Object.keys(listed).filter((unit) => listed[unit] !== undefined && !READ_UNITS.has(unit))
  return { steps, unread }
}

function pricingOf({ steps }: Terms, marginPercent: number): JsonObject {
  const [base, ...above] = steps.map((step) => linesOf(step, marginPercent))
  return {
    ...base,
    ...(above.length > 0 && {
      steps: above.map((lines, index) => ({ aboveInputTokens: steps[index + 1]?.above ?? 0, ...lines })),
    }),
  }
}

function linesOf({ prices, hasCache }: Terms['steps'][number], marginPercent: number): JsonObject {
  // Never below what the margin comes to, in the finest unit that a price has.
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
