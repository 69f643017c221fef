/** Computes costs at prices for other units than the five token classes: a usage's cost, and a request's maximum. */

import { isInput, isSameUnit, type UnitCount } from '@/chat/units'
import { type Usage, withUnits } from '@/chat/usage'
import { costNano, type Nano, type Pico } from '@/lib/money'
import type { PriceList, Prices, UnitPrice } from './types'

/** A fee for each request. */
const FEE: UnitCount = { billable: 'request', unit: 'request', count: 1 }

/** The prices of one usage, each with its count. */
export type PricedUnit = UnitCount & { price: Pico }

/**
 * The price line for `unit`: the one of its variant, or else the one without a variant, or else the dearest. Undefined if the list has no
 * price of such units. A picture's variant is `quality:size`: a line may name both, or else the quality, or else the size.
 */
export function lineFor(lines: readonly UnitPrice[], unit: Omit<UnitCount, 'count'>): UnitPrice | undefined {
  const stated = statedLine(lines, unit)
  if (stated) return stated
  let found: UnitPrice | undefined
  for (const line of lines) {
    if (isSameUnit(line, unit) && (!found || isBetter(line, found))) found = line
  }
  return found
}

/** The line that names the variant of `unit`; undefined if none does. */
function statedLine(lines: readonly UnitPrice[], unit: Omit<UnitCount, 'count'>): UnitPrice | undefined {
  const { variant } = unit
  if (variant === undefined) return undefined
  const names = variant.includes(':') ? [variant, ...variant.split(':')] : [variant]
  for (const name of names) {
    const line = lines.find((one) => one.variant === name && isSameUnit(one, unit))
    if (line) return line
  }
  return undefined
}

function isBetter(line: UnitPrice, found: UnitPrice): boolean {
  if (found.variant === undefined) return false
  return line.variant === undefined || line.price > found.price
}

/** The units of `usage` that have a price in `list`. Tokens of sounds or pictures are limited to the input or output that contains them. */
export function pricedUnits({ lines }: PriceList, usage: Usage): PricedUnit[] {
  if (!lines || !usage.units) return []
  let { uncached, output } = usage
  return usage.units.flatMap((unit) => {
    const line = lineFor(lines, unit)
    if (!line) return []
    const { price } = line
    if (unit.unit !== 'token') return [{ ...unit, price }]
    const count = Math.min(unit.count, isInput(unit.billable) ? uncached : output)
    if (isInput(unit.billable)) uncached -= count
    else output -= count
    return [{ ...unit, count, price }]
  })
}

/** The tokens of `usage` that are charged at the price of their class. Tokens in `units` are excluded. */
export function plainTokens(usage: Usage, units: readonly PricedUnit[]): Pick<Usage, 'uncached' | 'output'> {
  let { uncached, output } = usage
  for (const { billable, unit, count } of units) {
    if (unit !== 'token') continue
    if (isInput(billable)) uncached -= count
    else output -= count
  }
  return { uncached, output }
}

/** The cost of `usage`: tokens at `prices`, and other units at the prices of `list`. */
export function costWithUnits(list: PriceList, prices: Prices, usage: Usage): Nano {
  const units = pricedUnits(list, usage)
  const { uncached, output } = plainTokens(usage, units)
  return costNano(
    [uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, output, ...units.map(({ count }) => count)],
    [
      ...[prices.input, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h, prices.output],
      ...units.map(({ price }) => price),
    ],
  )
}

/**
 * The maximum cost of `tokens` (input and output) at `prices`, with at most `most` units. Units that are tokens count at the higher of the
 * class's and their own price. Other units count at the price of their variant, or else at the dearest. The fee is included.
 */
export function worstWithUnits(
  lines: readonly UnitPrice[],
  prices: readonly [input: Pico, output: Pico],
  [input, output]: readonly [input: number, output: number],
  most: readonly UnitCount[] = [],
): Nano {
  const counts: number[] = []
  const priced: Pico[] = []
  const room = { input, output }
  const add = (count: number, price: Pico) => {
    counts.push(count)
    priced.push(price)
  }
  const bounds = most.map((bound) => ({ ...bound, price: worstPrice(lines, bound) }))
  for (const { billable, unit, count, price } of bounds.sort((one, other) => other.price - one.price)) {
    if (unit !== 'token') add(count, price)
    else {
      const side = isInput(billable) ? 'input' : 'output'
      const base = prices[side === 'input' ? 0 : 1]
      const part = Math.min(count, room[side])
      room[side] -= part
      add(part, Math.max(price, base) as Pico)
    }
  }
  const fee = lineFor(lines, FEE)
  if (fee) add(1, fee.price)
  return costNano([room.input, room.output, ...counts], [...prices, ...priced])
}

/** The highest possible price of `bound`, for a hold; 0 if the list has no price for such units. */
function worstPrice(lines: readonly UnitPrice[], bound: UnitCount): Pico {
  const stated = isWhole(bound.variant) ? statedLine(lines, bound) : undefined
  if (stated) return stated.price
  const own = lines.filter((line) => isSameUnit(line, bound))
  const possible = own.filter((line) => isPossible(line.variant, bound.variant))
  return Math.max(0, ...(possible.length > 0 ? possible : own).map(({ price }) => price)) as Pico
}

/** Whether the variant has all its parts, so that the provider chooses none. */
function isWhole(variant: string | undefined): boolean {
  return variant !== undefined && !variant.startsWith(':') && !variant.endsWith(':')
}

/** Whether an answer to a request for variant `asked` can be of variant `own`. The provider chooses the empty parts of `asked`. */
function isPossible(own: string | undefined, asked: string | undefined): boolean {
  if (own === undefined || asked === undefined) return true
  const [quality, size] = asked.split(':')
  const [first, second] = own.split(':')
  if (second === undefined) return quality === '' || size === '' || own === quality || own === size
  return (quality === '' || quality === first) && (size === '' || size === second)
}

/** `usage` with the list's fee for a request; the same object if there is none. */
export function withFee(usage: Usage, { lines }: PriceList): Usage {
  return lines && lineFor(lines, FEE) ? withUnits(usage, usage.units, [FEE]) : usage
}

/** `usage` limited to `most`: removes units and variants that the hold does not cover. The same object if it covers all. */
export function unitsWithin(usage: Usage, lines: readonly UnitPrice[], most: readonly UnitCount[] = []): Usage {
  if (!usage.units) return usage
  const room = most.map(({ count }) => count)
  let isCut = false
  const units = usage.units.flatMap((unit) => {
    const own = lineFor(lines, unit)
    if (!own || isSameUnit(unit, FEE)) return [unit]
    const index = most.findIndex((bound) => isSameUnit(bound, unit))
    const bound = most[index]
    const count = Math.min(unit.count, room[index] ?? 0)
    if (bound) room[index] = (room[index] ?? 0) - count
    const isDearer = bound !== undefined && own.price > worstPrice(lines, bound)
    if (count === unit.count && !isDearer) return [unit]
    isCut = true
    const { variant, ...rest } = unit
    const kept = isDearer ? bound.variant : variant
    return count === 0 ? [] : [{ ...rest, ...(kept !== undefined && { variant: kept }), count }]
  })
  return isCut ? replaceUnits(usage, units) : usage
}

/** `usage` with at most these tokens of input and output. Sounds and pictures are cut before text, in the customer's favour. */
export function tokensWithin(usage: Usage, tokens: Partial<Omit<Usage, 'units'>>): Usage {
  const lowered: Usage = { ...usage, ...tokens }
  if (!usage.units) return lowered
  const cut = { input: usage.uncached - lowered.uncached, output: usage.output - lowered.output }
  const units = usage.units.flatMap((unit) => {
    if (unit.unit !== 'token') return [unit]
    const side = isInput(unit.billable) ? 'input' : 'output'
    const less = Math.min(unit.count, Math.max(0, cut[side]))
    cut[side] -= less
    return less === unit.count ? [] : [{ ...unit, count: unit.count - less }]
  })
  return replaceUnits(lowered, units)
}

function replaceUnits({ units: _, ...usage }: Usage, units: readonly UnitCount[]): Usage {
  return withUnits(usage, units)
}
