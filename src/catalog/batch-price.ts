/** A model with its prices for batches: its own prices times `batchDiscount`, rounded up to the next pico-USD. */
import type { Pico } from '@/lib/money'
import type { Model, PriceList, Prices, Pricing } from './types'

/** The model with batch prices, by the model with usual prices. It is created once, so that code can compare models by identity. */
const discounted = new WeakMap<Model, Model>()

/** The model with its prices for batches; the model itself if it has no discount. */
export function atBatchPrice(model: Model): Model {
  if (model.batchDiscount === undefined) return model
  const known = discounted.get(model)
  if (known) return known
  const cheaper = { ...model, pricing: pricingOf(model.pricing, model.batchDiscount) }
  discounted.set(model, cheaper)
  return cheaper
}

function pricingOf({ serviceTiers, ...list }: Pricing, factor: number): Pricing {
  const scaled = listOf(list, factor)
  if (!serviceTiers) return scaled
  return { ...scaled, serviceTiers: new Map([...serviceTiers].map(([tier, own]) => [tier, listOf(own, factor)])) }
}

function listOf({ base, steps, lines }: PriceList, factor: number): PriceList {
  return {
    base: pricesOf(base, factor),
    steps: steps.map(({ prices, ...step }) => ({ ...step, prices: pricesOf(prices, factor) })),
    ...(lines && { lines: lines.map((line) => ({ ...line, price: scaled(line.price, factor) })) }),
  }
}

function pricesOf({ input, cacheRead, cacheWrite5m, cacheWrite1h, output }: Prices, factor: number): Prices {
  return {
    input: scaled(input, factor),
    cacheRead: scaled(cacheRead, factor),
    cacheWrite5m: scaled(cacheWrite5m, factor),
    cacheWrite1h: scaled(cacheWrite1h, factor),
    output: scaled(output, factor),
  }
}

function scaled(price: Pico, factor: number): Pico {
  return Math.ceil(price * factor) as Pico
}
