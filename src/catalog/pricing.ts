/** Parses price lists of the catalogue file, ours and the providers', into integers. Missing cache prices get conservative defaults. */
import { extraTier } from '@/chat/service-tier'
import { type Pico, priceToPico } from '@/lib/money'
import type { FaultList } from './check'
import { isShortForm, type LineFile, type ReadLines, readLines, unitName } from './price-line-file'
import type { CostFile, ModelFile } from './schema'
import type { PriceList, PriceStep, Prices, Pricing, UnitPrice } from './types'
import { lineFor } from './unit-prices'

/** Default prices of cache writes as multiples of the input price: the highest factors in use. A read costs as much as input. */
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
type ListsFile = ListFile & {
  steps?: readonly (ListFile & { aboveInputTokens: number })[]
  lines?: readonly LineFile[]
}
type TiersFile = { serviceTiers?: Readonly<Record<string, ListsFile>> }
type PricingFile = ModelFile['pricing']

/** How a list states our prices or our costs: the names of its fields, and the amount of a line. */
type Form = { names: Names; usdOf(line: LineFile): number | undefined }
const PRICES: Form = { names: PRICE_NAMES, usdOf: ({ usd }) => usd }
const MODEL_COSTS: Form = { names: COST_NAMES, usdOf: ({ costUsd }) => costUsd }
const TARGET_COSTS: Form = { names: COST_NAMES, usdOf: ({ usd }) => usd }

/** Turns a model's `pricing` into integers. Adds a fault for each invalid price and for steps out of order. */
export function readPricing(file: PricingFile, place: string, faults: FaultList): Pricing {
  const list = readLists(file, PRICES, place, faults)
  const serviceTiers = readTierLists(file, place, (tier, at) => readTierPrices(tier, list, at, faults))
  for (const name of serviceTiers.keys()) {
    if (extraTier(name) !== undefined) continue
    faults.add(`${place}.serviceTiers.${name}`, 'is not the name of a tier beside the standard one')
  }
  return withTiers(list, serviceTiers)
}

/** A tier's prices. Lines that the tier lacks are the standard tier's. */
function readTierPrices(file: ListsFile, standard: PriceList, place: string, faults: FaultList): PriceList {
  const list = readLists(file, PRICES, place, faults)
  for (const line of list.lines ?? []) {
    if (lineFor(standard.lines ?? [], line)) continue
    faults.add(`${place}.lines`, `${unitName(line)} has no price in the model's pricing.lines`)
  }
  return withLines(list, standard)
}

function withLines(list: PriceList, standard: PriceList): PriceList {
  const { lines: own = [] } = list
  const isOwn = (line: UnitPrice) => own.some((one) => unitName(one) === unitName(line))
  const lines = [...own, ...(standard.lines ?? []).filter((line) => !isOwn(line))]
  return lines.length > 0 ? { ...list, lines } : list
}

/** The providers' prices to us as the model's `pricing` states them; undefined if not stated. */
export function readModelCost(file: PricingFile, place: string, faults: FaultList): Pricing | undefined {
  return readCost(file, file, MODEL_COSTS, place, faults)
}

/** A target's own cost of a model with this `pricing`; undefined if not stated. */
export function readTargetCost(
  file: CostFile,
  pricing: PricingFile,
  place: string,
  faults: FaultList,
): Pricing | undefined {
  return readCost(file, pricing, TARGET_COSTS, place, faults)
}

/** Reads the costs. Each list must state a cost wherever there is a price: for input and output tokens, and for each line. */
function readCost(
  file: CostFile | PricingFile,
  pricing: PricingFile,
  form: Form,
  place: string,
  faults: FaultList,
): Pricing | undefined {
  const cost = readCostList(file, pricing, form, place, faults)
  const serviceTiers = readTierLists(file, place, (list, at) => {
    const own = readCostList(list, pricing, form, at, faults)
    return own && cost ? withLines(own, cost) : own
  })
  if (!cost && serviceTiers.size > 0)
    faults.add(`${place}.${COST_NAMES.input}`, 'is missing, where the cost of a service tier is named')
  for (const line of cost ? (pricing.lines ?? []) : []) {
    if (isShortForm(line)) continue
    if (!lineFor(cost?.lines ?? [], line))
      faults.add(`${place}.lines`, `has no cost of ${unitName(line)}, where another cost is named`)
  }
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

function readCostList(
  file: ListsFile,
  pricing: PricingFile,
  form: Form,
  place: string,
  faults: FaultList,
): PriceList | undefined {
  const steps = file.steps ?? []
  const hasNamed = [file, ...steps].some((list) => Object.values(COST_NAMES).some((name) => list[name] !== undefined))
  if (!hasNamed && !file.lines?.some((line) => form.usdOf(line) !== undefined)) return
  requireWhole(file, pricing, form, place, faults)
  for (const [index, step] of steps.entries()) requireWhole(step, pricing, form, `${place}.steps[${index}]`, faults)
  return readLists(file, form, place, faults)
}

type Side = 'input' | 'output'

/** The sides (input, output) for which a list states the price or cost of text tokens. */
function statedSides(list: ListsFile, { names, usdOf }: Form): Side[] {
  const hasLine = (side: Side) =>
    list.lines?.some((line) => isShortForm(line) && line.billable.startsWith(side) && usdOf(line) !== undefined)
  return (['input', 'output'] as const).filter((side) => list[names[side]] !== undefined || hasLine(side))
}

function requireWhole(list: ListsFile, pricing: PricingFile, form: Form, place: string, faults: FaultList): void {
  const stated = statedSides(list, form)
  for (const side of statedSides(pricing, PRICES)) {
    if (!stated.includes(side)) faults.add(`${place}.${COST_NAMES[side]}`, 'is missing, where another cost is named')
  }
}

function readLists(file: ListsFile, form: Form, place: string, faults: FaultList): PriceList {
  const steps: PriceStep[] = []
  for (const [index, step] of (file.steps ?? []).entries()) {
    const at = `${place}.steps[${index}]`
    const previous = steps.at(-1)
    if (previous && step.aboveInputTokens <= previous.aboveInputTokens && !faults.has(`${at}.aboveInputTokens`)) {
      faults.add(`${at}.aboveInputTokens`, `must be above the previous step's ${previous.aboveInputTokens}`)
    }
    const prices = readPrices(step, form.names, NO_LINES, at, faults)
    steps.push({ aboveInputTokens: step.aboveInputTokens, prices })
  }
  const { names } = form
  const read = readLines(file.lines, form.usdOf, place, faults)
  for (const side of ['input', 'output'] as const) {
    if (read[side] !== undefined && file[names[side]] !== undefined)
      faults.add(`${place}.${names[side]}`, 'is also stated in lines')
  }
  const base = readPrices(file, names, read, place, faults)
  return read.lines.length > 0 ? { base, steps, lines: read.lines } : { base, steps }
}

const NO_LINES: ReadLines = { lines: [] }

/** Reads token prices. Input or output without a price gets that of its dearest line, since a provider may report only totals. */
function readPrices(file: ListFile, names: Names, lines: ReadLines, place: string, faults: FaultList): Prices {
  function read(name: Name): Pico | undefined {
    const usd = file[name]
    if (usd === undefined) return undefined
    const price = priceToPico(usd)
    if (price === undefined) faults.add(`${place}.${name}`, 'is finer than 0.000001 USD per 1,000,000 tokens')
    return price ?? (0 as Pico)
  }

  const input = read(names.input) ?? lines.input ?? dearestOf(lines, 'input')
  const cacheWrite5m = read(names.cacheWrite5m) ?? scale(input, DEFAULT_CACHE_WRITE_FACTOR)
  const cacheWrite1h = read(names.cacheWrite1h) ?? scale(input, DEFAULT_CACHE_WRITE_1H_FACTOR)
  return {
    input,
    cacheRead: read(names.cacheRead) ?? input,
    cacheWrite5m,
    cacheWrite1h: (cacheWrite1h > cacheWrite5m || file[names.cacheWrite1h] !== undefined
      ? cacheWrite1h
      : cacheWrite5m) as Pico,
    output: read(names.output) ?? lines.output ?? dearestOf(lines, 'output'),
  }
}

function dearestOf({ lines }: ReadLines, side: 'input' | 'output'): Pico {
  const own = lines.filter(({ billable, unit }) => unit === 'token' && billable.startsWith(side))
  return Math.max(0, ...own.map(({ price }) => price)) as Pico
}

function scale(price: Pico, factor: number): Pico {
  return Math.ceil(price * factor) as Pico
}
