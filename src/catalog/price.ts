/** What a request costs: usage times prices, rounded up once, and the most that a request could come to. */
import { STANDARD_TIER } from '@/chat/service-tier'
import { inputTokens, type Usage } from '@/chat/usage'
import { costNano, type Nano, nano, type Pico } from '@/lib/money'
import type { PriceList, Prices, Pricing } from './types'

/** The charge for `usage` in nano-USD, all of it by the highest step that the input exceeds. Counts must be integers. */
export function requestCost(pricing: PriceList, usage: Usage): Nano {
  const prices = pricesFor(pricing, inputTokens(usage))
  return costNano(
    [usage.uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.output],
    [prices.input, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h, prices.output],
  )
}

/**
 * The most a request can cost, in nano-USD: all input at the dearest class of any list it could reach, in any tier that may answer where
 * `tier` was asked for.
 */
export function worstCaseCost(pricing: Pricing, inputLimit: number, outputLimit: number, tier?: string): Nano {
  const counts = [inputLimit, outputLimit]
  if (!pricing.serviceTiers) return worstOfList(pricing, counts, inputLimit)
  return nano(Math.max(...coveredLists(pricing, tier).map((list) => worstOfList(list, counts, inputLimit))))
}

function worstOfList({ base, steps }: PriceList, counts: readonly number[], inputLimit: number): Nano {
  let cost = costNano(counts, dearest(base))
  for (const step of steps)
    if (inputLimit > step.aboveInputTokens) cost = nano(Math.max(cost, costNano(counts, dearest(step.prices))))
  return cost
}

/** The price list of a service tier, `undefined` if it has none. The standard list also stands for a tier that nobody names. */
export function listOfTier(pricing: Pricing, tier: string | undefined): PriceList | undefined {
  return tier === undefined || tier === STANDARD_TIER ? pricing : pricing.serviceTiers?.get(tier)
}

/**
 * The price list for an answer that names the tier `answered`, where `asked` was asked for, and the hold was made for `asked`. A tier
 * without a price costs what the dearest of the tiers costs that the hold covers. No tier costs more than that.
 */
export function listForAnswer(
  pricing: Pricing,
  { asked, answered }: { asked: string | undefined; answered: string | undefined },
  usage: Usage,
): PriceList {
  const own = listOfTier(pricing, answered ?? asked)
  const covered = coveredLists(pricing, asked)
  if (own && covered.includes(own)) return own
  const costOf = (list: PriceList) => requestCost(list, usage)
  const most = covered.reduce((one, other) => (costOf(other) > costOf(one) ? other : one))
  return own && costOf(own) < costOf(most) ? own : most
}

/** The lists of the tiers that may answer: any of them if the provider chooses, else the one asked for, or the standard one in its place. */
function coveredLists(pricing: Pricing, asked: string | undefined): readonly PriceList[] {
  if (asked === undefined) return [pricing, ...(pricing.serviceTiers?.values() ?? [])]
  const own = listOfTier(pricing, asked)
  return own && own !== pricing ? [own, pricing] : [pricing]
}

/** The price of `tokens` plain input tokens in nano-USD: the least that a request costs once its upstream was reached. */
export function inputCost(pricing: PriceList, tokens: number): Nano {
  return costNano([tokens], [pricesFor(pricing, tokens).input])
}

/** The price list that applies to a request of `tokens` input tokens. */
export function pricesFor(pricing: PriceList, tokens: number): Prices {
  let prices = pricing.base
  for (const step of pricing.steps) if (tokens > step.aboveInputTokens) prices = step.prices
  return prices
}

/** Of input, and of output. */
function dearest({ input, cacheRead, cacheWrite5m, cacheWrite1h, output }: Prices): [Pico, Pico] {
  return [Math.max(input, cacheRead, cacheWrite5m, cacheWrite1h) as Pico, output]
}
