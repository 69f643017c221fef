/** Computes a request's price (usage times prices, rounded up once), and the maximum cost for its hold. */
import { STANDARD_TIER } from '@/chat/service-tier'
import type { UnitCount } from '@/chat/units'
import { inputTokens, type Usage } from '@/chat/usage'
import { costNano, type Nano, nano, type Pico } from '@/lib/money'
import type { PriceList, Prices, Pricing } from './types'
import { costWithUnits, worstWithUnits } from './unit-prices'

/** The charge for `usage` in nano-USD, at the highest price step that the input exceeds. Counts must be integers. */
export function requestCost(pricing: PriceList, usage: Usage): Nano {
  const prices = pricesFor(pricing, inputTokens(usage))
  if (pricing.lines !== undefined && usage.units !== undefined) return costWithUnits(pricing, prices, usage)
  return costNano(
    [usage.uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.output],
    [prices.input, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h, prices.output],
  )
}

/**
 * The maximum cost of a request, in nano-USD: all input at the dearest class of all lists for `tier`, the requested service tier. `most`:
 * the maximum number of each other unit, and the maximum tokens of sounds and pictures.
 */
export function worstCaseCost(
  pricing: Pricing,
  inputLimit: number,
  outputLimit: number,
  tier?: string,
  most?: readonly UnitCount[],
): Nano {
  const counts = [inputLimit, outputLimit] as const
  if (!pricing.serviceTiers) return worstOfList(pricing, counts, most)
  return nano(Math.max(...coveredLists(pricing, tier).map((list) => worstOfList(list, counts, most))))
}

type Limits = readonly [input: number, output: number]

function worstOfList(list: PriceList, limits: Limits, most: readonly UnitCount[] | undefined): Nano {
  let cost = worstAt(list, list.base, limits, most)
  for (const { aboveInputTokens, prices } of list.steps)
    if (limits[0] > aboveInputTokens) cost = nano(Math.max(cost, worstAt(list, prices, limits, most)))
  return cost
}

function worstAt({ lines }: PriceList, prices: Prices, limits: Limits, most: readonly UnitCount[] | undefined): Nano {
  return lines ? worstWithUnits(lines, dearest(prices), limits, most) : costNano(limits, dearest(prices))
}

/** The price list of a service tier; undefined if it has none. The standard list applies if no tier is named. */
export function listOfTier(pricing: Pricing, tier: string | undefined): PriceList | undefined {
  return tier === undefined || tier === STANDARD_TIER ? pricing : pricing.serviceTiers?.get(tier)
}

/** The service tier whose price list this is; `undefined` for the standard list. */
export function tierOfList({ serviceTiers }: Pricing, list: PriceList): string | undefined {
  for (const [tier, own] of serviceTiers ?? []) if (own === list) return tier
  return undefined
}

/**
 * The price list for an answer. `asked` is the requested tier, which the hold covers; `answered` is the tier named by the answer. If
 * `answered` has no price, the dearest tier that the hold covers applies. No answer costs more than that tier.
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

/** The lists of tiers that may answer. If none was requested, the provider may choose any; else the requested or the standard tier. */
function coveredLists(pricing: Pricing, asked: string | undefined): readonly PriceList[] {
  if (asked === undefined) return [pricing, ...(pricing.serviceTiers?.values() ?? [])]
  const own = listOfTier(pricing, asked)
  return own && own !== pricing ? [own, pricing] : [pricing]
}

/** The price of `tokens` plain input tokens in nano-USD: the minimal charge once a request reached its upstream. */
export function inputCost(pricing: PriceList, tokens: number): Nano {
  return costNano([tokens], [pricesFor(pricing, tokens).input])
}

/** The prices for a request of `tokens` input tokens. */
export function pricesFor(pricing: PriceList, tokens: number): Prices {
  let prices = pricing.base
  for (const step of pricing.steps) if (tokens > step.aboveInputTokens) prices = step.prices
  return prices
}

/** The highest input price, and the output price. */
function dearest({ input, cacheRead, cacheWrite5m, cacheWrite1h, output }: Prices): [Pico, Pico] {
  return [Math.max(input, cacheRead, cacheWrite5m, cacheWrite1h) as Pico, output]
}
