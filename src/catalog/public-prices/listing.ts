/** Public data on a provider's model, from two sources: prices by date, token class and input length, limits and capabilities. */
import { calcPrice, findProvider, type ModelInfo, type ModelPrice, type Provider } from '@pydantic/genai-prices'
import { dependencies } from '#package.json'
import type { Capability, Prices } from '@/catalog/types'
import { isSameGeneration, vendorName } from './generations'
import { type Medium, pico, pricesAt, stepsOf } from './listed-prices'
import { findSecond, SECOND_SOURCE, type SecondModel } from './second-source'

const PACKAGE = '@pydantic/genai-prices'
/** The version of the first source that is in use, and its release day. */
export const RELEASED = { version: '0.1.8', on: '2026-09-23' }
const FIRST_SOURCE = `${PACKAGE} ${dependencies[PACKAGE]} of ${RELEASED.on}`

/** Clouds sell other vendors' models. Their limits and capabilities are read from the vendor's entry. */
const VENDORS = ['openai', 'anthropic', 'google']

/** `unread`: other units with a listed price, which `steps` don't contain. */
type ListedTerms = { steps: { above: number; prices: Prices; hasCache: boolean }[]; unread: string[] }

export type Listing = {
  id: string
  name: string | undefined
  /** `chat`, `chat-by-responses`, `embedding`, or a kind that the gateway doesn't sell. */
  kind: string | undefined
  contextLength: number | undefined
  maxOutputTokens: number | undefined
  capabilities: readonly Capability[] | undefined
  /** The last day on which the model answers. */
  retires: string | undefined
  isDeprecated: boolean
  /** Dates (`2027-01-01`) of announced price changes, ascending. */
  changes: string[]
  /** The sources of the prices and of the other data; undefined for unknown data. */
  sources: { prices: string | undefined; limits: string | undefined }
  termsOn(day: string, media?: readonly Medium[]): ListedTerms | undefined
}

/** The first source's entry for a provider with this address or, without `://`, this name. */
export function findLister(addressOrName: string): Provider | undefined {
  return findProvider(addressOrName.includes('://') ? { providerApiUrl: addressOrName } : { providerId: addressOrName })
}

/** Combines the data of both sources on `model`. */
export function listingOf(provider: Provider, model: string): Listing {
  const first = findFirst(provider, model)
  const second = findSecond(provider.id, model)
  const limits = second ?? findLimits(model)
  const conditions = Array.isArray(first?.prices) ? first.prices.map(({ constraint }) => constraint) : []
  const hasPrices = first !== undefined || second?.prices !== undefined
  return {
    id: model,
    name: first?.id === model ? first.name : undefined,
    kind: limits?.kind,
    contextLength: first?.context_window ?? limits?.input,
    maxOutputTokens: limits?.output,
    capabilities: limits?.capabilities,
    retires: limits?.retires,
    isDeprecated: first?.deprecated === true,
    changes: conditions.flatMap((each) => (each?.type === 'start_date' ? [each.start_date] : [])).sort(),
    sources: {
      prices: first ? FIRST_SOURCE : hasPrices ? SECOND_SOURCE : undefined,
      limits: limits && SECOND_SOURCE,
    },
    termsOn: (day, media = []) => (first ? firstTerms(provider, model, day, media) : secondTerms(second)),
  }
}

/** The first source's entry for a model. A match by the name's beginning counts only if the version is the same. */
function findFirst(provider: Provider, model: string): ModelInfo | undefined {
  const found = calcPrice({ input_tokens: 1 }, model, { provider })?.model
  return found && isSameGeneration(found.id, model) ? found : undefined
}

function findLimits(model: string): SecondModel | undefined {
  const bare = vendorName(model)
  return VENDORS.map((vendor) => findSecond(vendor, bare)).find((found) => found !== undefined)
}

const READ_UNITS = new Set(['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok'])

function firstTerms(provider: Provider, model: string, day: string, media: readonly Medium[]): ListedTerms | undefined {
  const priced = calcPrice({ input_tokens: 1 }, model, { provider, timestamp: new Date(`${day}T12:00:00Z`) })
  if (priced?.model_price.input_mtok === undefined) return undefined
  const listed: ModelPrice = priced.model_price
  const hasCache = listed.cache_read_mtok !== undefined || listed.cache_write_mtok !== undefined
  return {
    steps: [0, ...stepsOf(listed)].map((above) => ({ above, prices: pricesAt(listed, above + 1, media), hasCache })),
    unread: Object.keys(listed).filter((unit) => listed[unit] !== undefined && !READ_UNITS.has(unit)),
  }
}

function secondTerms(second: SecondModel | undefined): ListedTerms | undefined {
  if (!second?.prices) return undefined
  const steps = second.prices.map(
    ({ above = 0, input, output = 0, cacheRead = input, cacheWrite = input, ...more }) => ({
      above,
      hasCache: cacheRead !== input || cacheWrite !== input,
      prices: {
        input: pico(input),
        output: pico(output),
        cacheRead: pico(cacheRead),
        cacheWrite5m: pico(cacheWrite),
        cacheWrite1h: pico(more.cacheWrite1h ?? cacheWrite),
      },
    }),
  )
  return { steps, unread: [] }
}
