/** What providers list in public for a model, read from the package of prices: by date, by class of tokens, by length of the input. */
import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import type { Prices, Target } from '@/catalog/types'
import { priceToPico } from '@/lib/money'

/** What is known in public of one target. */
export type Listing = {
  contextLength: number | undefined
  isDeprecated: boolean
  /** Days (`2027-01-01`) on which a price is known to change, ascending. */
  changes: string[]
  /** Sizes of input above which another price holds on `day`, in tokens. */
  stepsOn(day: string): number[]
  /** The prices on `day` of a request with `inputTokens`. */
  pricesOn(day: string, inputTokens: number): Prices
}

/** Input beside text, which we sell at the price of input; providers may list a price of its own. */
export type Medium = 'audio' | 'image'

/** `media`: what else than text the model takes as input. Undefined where nobody lists the model, or knows its provider. */
export function listingOf({ provider, model }: Target, media: readonly Medium[]): Listing | undefined {
  const lister = findProvider({ providerApiUrl: provider.baseUrl })
  if (!lister) return undefined
  const found = calcPrice({ input_tokens: 1 }, model, { provider: lister })?.model
  if (!found) return undefined
  function on(day: string): ModelPrice {
    const priced = calcPrice({ input_tokens: 1 }, model, { provider: lister, timestamp: new Date(`${day}T12:00:00Z`) })
    if (!priced) throw new Error(`${model} has no price on ${day}`)
    return priced.model_price
  }
  const conditions = Array.isArray(found.prices) ? found.prices.map(({ constraint }) => constraint) : []
  return {
    contextLength: found.context_window,
    isDeprecated: found.deprecated === true,
    changes: conditions.flatMap((each) => (each?.type === 'start_date' ? [each.start_date] : [])).sort(),
    stepsOn: (day) => stepsOf(on(day)),
    pricesOn: (day, inputTokens) => pricesAt(on(day), inputTokens, media),
  }
}

/** Caches that nobody lists are read and written at the price of input. */
function pricesAt(listed: ModelPrice, inputTokens: number, media: readonly Medium[]): Prices {
  function usd(name: string): number | undefined {
    const price = listed[name]
    if (price === undefined || typeof price === 'number') return price
    return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
  }
  const input = Math.max(usd('input_mtok') ?? 0, ...media.map((name) => usd(`input_${name}_mtok`) ?? 0))
  const cacheRead = Math.max(
    usd('cache_read_mtok') ?? input,
    ...media.map((name) => usd(`cache_${name}_read_mtok`) ?? 0),
  )
  const cacheWrite = usd('cache_write_mtok') ?? input
  return {
    input: pico(input),
    cacheRead: pico(cacheRead),
    cacheWrite5m: pico(cacheWrite),
    cacheWrite1h: pico(usd('cache_write_1h_mtok') ?? cacheWrite),
    output: pico(usd('output_mtok') ?? 0),
  }
}

function stepsOf(listed: ModelPrice): number[] {
  const starts = Object.values(listed).flatMap((price) => (typeof price === 'object' ? price.tiers : []))
  return [...new Set(starts.map(({ start }) => start))].sort((one, other) => one - other)
}

function pico(usd: number) {
  const price = priceToPico(usd)
  if (price === undefined) throw new Error(`a listed price of ${usd} USD is finer than ours`)
  return price
}
