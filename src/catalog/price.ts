/** What a request costs: usage times prices, rounded up once, and the most that a request could come to. */
import { inputTokens, type Usage } from '@/chat/usage'
import { costNano, type Nano, nano, type Pico } from '@/lib/money'
import type { Prices, Pricing } from './types'

/** The charge for `usage` in nano-USD, all of it by the highest step that the input exceeds. Counts must be integers. */
export function requestCost(pricing: Pricing, usage: Usage): Nano {
  const prices = pricesFor(pricing, inputTokens(usage))
  return costNano(
    [usage.uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.output],
    [prices.input, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h, prices.output],
  )
}

/** The most a request can cost, in nano-USD: all input at the dearest class of any list it could reach. */
export function worstCaseCost(pricing: Pricing, inputLimit: number, outputLimit: number): Nano {
  const counts = [inputLimit, outputLimit]
  let cost = costNano(counts, dearest(pricing.base))
  for (const step of pricing.steps)
    if (inputLimit > step.aboveInputTokens) cost = nano(Math.max(cost, costNano(counts, dearest(step.prices))))
  return cost
}

/** The price of `tokens` plain input tokens in nano-USD: the least that a request costs once its upstream was reached. */
export function inputCost(pricing: Pricing, tokens: number): Nano {
  return costNano([tokens], [pricesFor(pricing, tokens).input])
}

/** The price list that applies to a request of `tokens` input tokens. */
export function pricesFor(pricing: Pricing, tokens: number): Prices {
  let prices = pricing.base
  for (const step of pricing.steps) if (tokens > step.aboveInputTokens) prices = step.prices
  return prices
}

/** Of input, and of output. */
function dearest({ input, cacheRead, cacheWrite5m, cacheWrite1h, output }: Prices): [Pico, Pico] {
  return [Math.max(input, cacheRead, cacheWrite5m, cacheWrite1h) as Pico, output]
}
