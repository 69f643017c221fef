/** Price lists of the catalogue file as integers, with conservative defaults for what a list leaves out. */
import { type Pico, priceToPico } from '@/lib/money'
import type { FaultList } from './check'
import type { ModelFile, PriceListFile } from './schema'
import type { PriceStep, Prices, Pricing } from './types'

/**
 * A list that names no cache prices is charged as if caches never saved anything: a read costs as much as plain input, a
 * write what the dearest common provider asks (1.25 × input for five minutes, 2 × input for an hour).
 */
const DEFAULT_CACHE_WRITE_FACTOR = 1.25
const DEFAULT_CACHE_WRITE_1H_FACTOR = 2

/** Turns the `pricing` of one model into integers. Adds a fault for each price that doesn't fit and for steps out of order. */
export function readPricing(file: ModelFile['pricing'], place: string, faults: FaultList): Pricing {
  const steps: PriceStep[] = []
  for (const [index, step] of (file.steps ?? []).entries()) {
    const at = `${place}.steps[${index}]`
    const previous = steps.at(-1)
    if (previous && step.aboveInputTokens <= previous.aboveInputTokens) {
      faults.add(`${at}.aboveInputTokens`, `must be above the previous step's ${previous.aboveInputTokens}`)
    }
    steps.push({ aboveInputTokens: step.aboveInputTokens, prices: readPrices(step, at, faults) })
  }
  return { base: readPrices(file, place, faults), steps }
}

function readPrices(file: PriceListFile, place: string, faults: FaultList): Prices {
  function read(name: keyof PriceListFile): Pico | undefined {
    const usd = file[name]
    if (usd === undefined) return undefined
    const price = priceToPico(usd)
    if (price === undefined) faults.add(`${place}.${name}`, 'is finer than 0.000001 USD per 1,000,000 tokens')
    return price ?? (0 as Pico)
  }

  const input = read('inputPer1mTokens') ?? (0 as Pico)
  const cacheWrite5m = read('cacheWritePer1mTokens') ?? scale(input, DEFAULT_CACHE_WRITE_FACTOR)
  const cacheWrite1h = read('cacheWrite1hPer1mTokens') ?? scale(input, DEFAULT_CACHE_WRITE_1H_FACTOR)
  return {
    input,
    cacheRead: read('cacheReadPer1mTokens') ?? input,
    cacheWrite5m,
    cacheWrite1h: (cacheWrite1h > cacheWrite5m || file.cacheWrite1hPer1mTokens !== undefined
      ? cacheWrite1h
      : cacheWrite5m) as Pico,
    output: read('outputPer1mTokens') ?? (0 as Pico),
  }
}

function scale(price: Pico, factor: number): Pico {
  return Math.ceil(price * factor) as Pico
}
