import { inputTokens, type Usage } from '@/chat/usage'
import type { Nano, Pico } from '@/lib/money'
import { listOfTier, pricesFor, requestCost } from './price'
import type { Catalog } from './types'

type PricedClass = 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output'

type PriceLine = { class: PricedClass; tokens: number; price: Pico }

/** The price of `usage` by class, at the catalogue's prices for the service tier; undefined if either is not sold any more. */
export function priceLines(
  catalog: Catalog,
  modelId: string,
  usage: Usage,
  tier?: string | null,
): { lines: PriceLine[]; total: Nano } | undefined {
  const model = catalog.models.get(modelId)
  const list = model && listOfTier(model.pricing, tier ?? undefined)
  if (!list) return undefined
  const prices = pricesFor(list, inputTokens(usage))
  const lines: PriceLine[] = [
    { class: 'input', tokens: usage.uncached, price: prices.input },
    { class: 'cacheRead', tokens: usage.cacheRead, price: prices.cacheRead },
    { class: 'cacheWrite5m', tokens: usage.cacheWrite5m, price: prices.cacheWrite5m },
    { class: 'cacheWrite1h', tokens: usage.cacheWrite1h, price: prices.cacheWrite1h },
    { class: 'output', tokens: usage.output, price: prices.output },
  ]
  return { lines: lines.filter((line) => line.tokens > 0), total: requestCost(list, usage) }
}
