/** Finds prices that are below our cost. Compares each token class at every input length, and each tool, at every target. */
import { isPerMillion } from '@/chat/units'
import { formatPrice, formatTokenPrice, formatUsd } from '@/lib/money'
import { atBatchPrice } from './batch-price'
import { pricesFor } from './price'
import { unitName } from './price-line-file'
import type { Catalog, Model, PriceList, Prices, Target, UnitPrice } from './types'
import { lineFor } from './unit-prices'

export const CLASS_WORDS: Readonly<Record<keyof Prices, string>> = {
  input: 'input',
  cacheRead: 'cache read',
  cacheWrite5m: 'cache write',
  cacheWrite1h: 'cache write of an hour',
  output: 'output',
}

/** A model with a loss. Each of `losses` is a text with class, price and cost. */
type LossMaker = { model: string; losses: string[] }

/** The models of `catalog` with a target whose cost exceeds the price in a token class. An unknown cost is no loss. */
export function modelsAtALoss(catalog: Catalog): LossMaker[] {
  return [...catalog.models.values()].flatMap((model) => {
    const losses = model.targets.flatMap((target) => [
      ...lossesAt(model, target),
      ...lossesInBatches(model, target),
      ...toolLossesAt(target),
    ])
    return losses.length === 0 ? [] : [{ model: model.id, losses }]
  })
}

/** A batch costs us as much as single requests, since each of its lines is sent as one. Only its price is lower. */
function lossesInBatches(model: Model, target: Target): string[] {
  const cheaper = atBatchPrice(model)
  return cheaper === model ? [] : lossesAt(cheaper, target).map((loss) => `in batches ${loss}`)
}

function toolLossesAt({ provider, toolPrices }: Target): string[] {
  return [...(toolPrices ?? [])]
    .filter(([, { price, cost = price }]) => price < cost)
    .map(
      ([name, { price, cost = price }]) =>
        `${name}: sold at $${formatUsd(price)}, costs $${formatUsd(cost)} at ${provider.name}`,
    )
}

function lossesAt(model: Model, target: Target): string[] {
  const { cost } = target
  if (!cost) return []
  const tiers = [...(model.pricing.serviceTiers ?? [])].flatMap(([name, prices]) => {
    const list = cost.serviceTiers?.get(name)
    return list ? lossesOfList(model, target, { prices, cost: list, of: ` of ${name}` }) : []
  })
  return [...lossesOfList(model, target, { prices: model.pricing, cost, of: '' }), ...tiers]
}

/** A price list and the cost to compare it with; `of` names the service tier. */
type Compared = { prices: PriceList; cost: PriceList; of: string }

function lossesOfList(model: Model, target: Target, { prices, cost, of }: Compared): string[] {
  const steps = [prices, cost].flatMap((lists) => lists.steps.map((step) => step.aboveInputTokens))
  const starts = [...new Set([0, ...steps])].filter((start) => start < model.contextLength)
  const ofLines = (prices.lines ?? []).flatMap((line) => {
    const theirs = lineFor(cost.lines ?? [], line)
    if (!theirs || line.price >= theirs.price) return []
    const amounts = `sold at $${linePrice(line)}, costs $${linePrice(theirs)}`
    return [`${unitName(line)}${of}: ${amounts} at ${target.provider.name}`]
  })
  const ofClasses = starts
    .sort((one, other) => one - other)
    .flatMap((start) => {
      const [ours, theirs] = [pricesFor(prices, start + 1), pricesFor(cost, start + 1)]
      const above = start === 0 ? '' : ` above ${start} input tokens`
      return (Object.keys(CLASS_WORDS) as (keyof Prices)[])
        .filter((name) => ours[name] < theirs[name])
        .map((name) => {
          const amounts = `sold at $${formatPrice(ours[name])}, costs $${formatPrice(theirs[name])}`
          return `${CLASS_WORDS[name]}${of}${above}: ${amounts} at ${target.provider.name}`
        })
    })
  return [...ofClasses, ...ofLines]
}

/** A line's price as text in USD: per million tokens or characters, or per one other unit. */
export function linePrice({ unit, price }: UnitPrice): string {
  return isPerMillion(unit) ? formatPrice(price) : formatTokenPrice(price)
}
