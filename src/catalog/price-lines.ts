/** Computes the price of a usage, line by line. */
import type { Billable, Unit } from '@/chat/units'
import { inputTokens, type Usage } from '@/chat/usage'
import type { Nano, Pico } from '@/lib/money'
import { listOfTier, pricesFor, requestCost } from './price'
import type { Catalog } from './types'
import { plainTokens, pricedUnits } from './unit-prices'

/** The token classes, and other things that have a price. */
type PricedClass = 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output' | Billable

/** `price` is pico-USD for one `unit`. */
export type PriceLine = { class: PricedClass; unit: Unit; variant?: string; count: number; price: Pico }

/** The price of `usage` by line, at the catalogue's prices for the service tier; undefined if model or tier is not sold any more. */
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
  const units = pricedUnits(list, usage)
  const { uncached, output } = plainTokens(usage, units)
  const lines: PriceLine[] = [
    { class: 'input', unit: 'token', count: uncached, price: prices.input },
    { class: 'cacheRead', unit: 'token', count: usage.cacheRead, price: prices.cacheRead },
    { class: 'cacheWrite5m', unit: 'token', count: usage.cacheWrite5m, price: prices.cacheWrite5m },
    { class: 'cacheWrite1h', unit: 'token', count: usage.cacheWrite1h, price: prices.cacheWrite1h },
    { class: 'output', unit: 'token', count: output, price: prices.output },
    ...units.map(({ billable, ...unit }) => ({ class: billable, ...unit })),
  ]
  return { lines: lines.filter((line) => line.count > 0), total: requestCost(list, usage) }
}
