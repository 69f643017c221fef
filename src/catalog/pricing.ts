/** Parses price lists of the catalogue file, ours and the providers', into integers. Missing cache prices get conservative defaults. */
import { extraTier } from '@/chat/service-tier'
import { type Pico, priceToPico } from '@/lib/money'
import type { FaultList } from './check'
import type { CostFile, ModelFile } from './schema'
import type { PriceList, PriceStep, Prices, Pricing } from './types'

/** Default cache prices: a read costs as plain input, a write 1.25 × (five minutes) or 2 × (an hour), the highest in use. */
const DEFAULT_CACHE_WRITE_FACTOR = 1.25
const DEFAULT_CACHE_WRITE_1H_FACTOR = 2

const PRICE_NAMES = {
  input: 'inputPer1mTokens',
  cacheRead: 'cacheReadPer1mTokens',
  cacheWrite5m: 'cacheWritePer1mTokens',
  cacheWrite1h: 'cacheWrite1hPer1mTokens',
  output: 'outputPer1mTokens',
} as const satisfies Record<keyof Prices, string>
const COST_NAMES = {
  input: 'costPer1mInputTokens',
  cacheRead: 'costPer1mCacheReadTokens',
  cacheWrite5m: 'costPer1mCacheWriteTokens',
  cacheWrite1h: 'costPer1mCacheWrite1hTokens',
  output: 'costPer1mOutputTokens',
} as const satisfies Record<keyof Prices, string>

type Name = (typeof PRICE_NAMES | typeof COST_NAMES)[keyof Prices]
type Names = Readonly<Record<keyof Prices, Name>>
type ListFile = { readonly [name in Name]?: number }
type ListsFile = ListFile & { steps?: readonly (ListFile & { aboveInputTokens: number })[] }
type TiersFile = { serviceTiers?: Readonly<Record<string, ListsFile>> }

/** Turns a model's `pricing` into integers. Adds a fault for each invalid price and for steps out of order. */
export function readPricing(file: ModelFile['pricing'], place: string, faults: FaultList): Pricing {
  const serviceTiers = readTierLists(file, place, (list, at) => readLists(list, PRICE_NAMES, at, faults))
  for (const name of serviceTiers.keys()) {
    if (extraTier(name) !== undefined) continue
    faults.add(`${place}.serviceTiers.${name}`, 'is not the name of a tier beside the standard one')
  }
  return withTiers(readLists(file, PRICE_NAMES, place, faults), serviceTiers)
}

/** The provider's prices to us; undefined if not stated. Each step and service tier needs both input and output. */
export function readCost(file: CostFile, place: string, faults: FaultList): Pricing | undefined {
  const serviceTiers = readTierLists(file, place, (list, at) => readCostList(list, at, faults))
  const cost = readCostList(file, place, faults)
  if (!cost && serviceTiers.size > 0)
    faults.add(`${place}.${COST_NAMES.input}`, 'is missing, where the cost of a service tier is named')
  return cost && withTiers(cost, serviceTiers)
}

function readTierLists(
  { serviceTiers = {} }: TiersFile,
  place: string,
  read: (list: ListsFile, place: string) => PriceList | undefined,
): ReadonlyMap<string, PriceList> {
  const lists = Object.entries(serviceTiers).map(
    ([name, list]) => [name, read(list, `${place}.serviceTiers.${name}`)] as const,
  )
  return new Map(lists.flatMap(([name, list]) => (list ? [[name, list]] : [])))
}

function withTiers(list: PriceList, serviceTiers: ReadonlyMap<string, PriceList>): Pricing {
  return serviceTiers.size > 0 ? { ...list, serviceTiers } : list
}

function readCostList(file: ListsFile, place: string, faults: FaultList): PriceList | undefined {
  const steps = file.steps ?? []
  if (![file, ...steps].some((list) => Object.values(COST_NAMES).some((name) => list[name] !== undefined))) return
  requireWhole(file, place, faults)
  for (const [index, step] of steps.entries()) requireWhole(step, `${place}.steps[${index}]`, faults)
  return readLists(file, COST_NAMES, place, faults)
}

function requireWhole(list: ListFile, place: string, faults: FaultList): void {
  for (const name of [COST_NAMES.input, COST_NAMES.output]) {
    if (list[name] === undefined) faults.add(`${place}.${name}`, 'is missing, where another cost is named')
  }
}

function readLists(file: ListsFile, names: Names, place: string, faults: FaultList): PriceList {
  const steps: PriceStep[] = []
  for (const [index, step] of (file.steps ?? []).entries()) {
    const at = `${place}.steps[${index}]`
    const previous = steps.at(-1)
    if (previous && step.aboveInputTokens <= previous.aboveInputTokens && !faults.has(`${at}.aboveInputTokens`)) {
      faults.add(`${at}.aboveInputTokens`, `must be above the previous step's ${previous.aboveInputTokens}`)
    }
    steps.push({ aboveInputTokens: step.aboveInputTokens, prices: readPrices(step, names, at, faults) })
  }
  return { base: readPrices(file, names, place, faults), steps }
}

function readPrices(file: ListFile, names: Names, place: string, faults: FaultList): Prices {
  function read(name: Name): Pico | undefined {
    const usd = file[name]
    if (usd === undefined) return undefined
    const price = priceToPico(usd)
    if (price === undefined) faults.add(`${place}.${name}`, 'is finer than 0.000001 USD per 1,000,000 tokens')
    return price ?? (0 as Pico)
  }

  const input = read(names.input) ?? (0 as Pico)
  const cacheWrite5m = read(names.cacheWrite5m) ?? scale(input, DEFAULT_CACHE_WRITE_FACTOR)
  const cacheWrite1h = read(names.cacheWrite1h) ?? scale(input, DEFAULT_CACHE_WRITE_1H_FACTOR)
  return {
    input,
    cacheRead: read(names.cacheRead) ?? input,
    cacheWrite5m,
    cacheWrite1h: (cacheWrite1h > cacheWrite5m || file[names.cacheWrite1h] !== undefined
      ? cacheWrite1h
      : cacheWrite5m) as Pico,
    output: read(names.output) ?? (0 as Pico),
  }
}

function scale(price: Pico, factor: number): Pico {
  return Math.ceil(price * factor) as Pico
}
