/** What providers list in public for a target, read from the package of prices: by date, by class of tokens, by length of the input. */
import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import { type Medium, pricesAt, stepsOf } from '@/catalog/public-prices/listed-prices'
import type { Prices, Target } from '@/catalog/types'

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

/** `media`: what else than text the model takes as input. Undefined if nobody lists the model, or knows its provider. */
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
