/** Prices by other units: random usages cost the exact sum of their lines, and never more than their hold. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { atBatchPrice } from '@/catalog/batch-price'
import { pricesFor, requestCost, worstCaseCost } from '@/catalog/price'
import type { PriceList, UnitPrice } from '@/catalog/types'
import { tokensWithin, unitsWithin, withFee } from '@/catalog/unit-prices'
import { type Billable, isInput, UNITS_OF, type Unit, type UnitCount } from '@/chat/units'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import { decideCharge } from '@/gateway/charge/charge'
import type { Pico } from '@/lib/money'
import { arbitraryPricing, modelOf, prices } from './sample-requests'

const PAIRS = Object.entries(UNITS_OF).flatMap(([billable, units]) =>
  units.map((unit) => ({ billable: billable as Billable, unit })),
)
/** Text tokens have no lines: they are the base prices. */
const LINED = PAIRS.filter(({ billable, unit }) => unit !== 'token' || !billable.endsWith('_text'))
const VARIANTS = ['hd', 'small']
const isPlain = (unit: Unit) => unit === 'token' || unit === 'request'

const pico = fc.integer({ min: 0, max: 200_000_000 }).map((value) => value as Pico)
const variants = (unit: Unit) => (isPlain(unit) ? fc.constant(undefined) : fc.constantFrom(undefined, ...VARIANTS))
const named = <Rest extends object>({ variant, ...rest }: Rest & { variant?: string | undefined }) =>
  ({ ...rest, ...(variant !== undefined && { variant }) }) as Rest & { variant?: string }

const lines: fc.Arbitrary<UnitPrice[]> = fc
  .array(
    fc
      .constantFrom(...LINED)
      .chain((pair) => fc.record({ ...constants(pair), variant: variants(pair.unit), price: pico }))
      .map(named),
    { minLength: 1, maxLength: 8 },
  )
  .map((list) => list.filter((line, index) => list.findIndex((one) => sameLine(one, line)) === index))

const count = fc.nat(100_000)
const tokens = fc.nat(300_000)
/** As formats decode them: parts of tokens never exceed their side. */
const usages: fc.Arbitrary<Usage> = fc
  .record({
    ...{ uncached: tokens, cacheRead: tokens, cacheWrite5m: tokens, cacheWrite1h: tokens, output: tokens },
    units: fc.array(
      fc
        .constantFrom(...LINED.filter(({ unit }) => unit !== 'request'))
        .chain((pair) =>
          fc.record({ ...constants(pair), variant: fc.constantFrom(undefined, ...VARIANTS, 'new'), count }),
        )
        .map((unit) => named(unit.unit === 'token' ? { ...unit, variant: undefined } : unit)),
      { maxLength: 6 },
    ),
  })
  .map(({ units, ...counts }) => ({ ...counts, reasoning: 0, units: fitting(units, counts) }))

function constants({ billable, unit }: { billable: Billable; unit: Unit }) {
  return { billable: fc.constant(billable), unit: fc.constant(unit) }
}

function sameLine(one: UnitPrice, other: UnitPrice): boolean {
  return one.billable === other.billable && one.unit === other.unit && one.variant === other.variant
}

function fitting(units: readonly UnitCount[], room: { uncached: number; output: number }): UnitCount[] {
  let { uncached, output } = room
  const fits = units.map((one) => {
    if (one.unit !== 'token') return one
    const part = Math.min(one.count, isInput(one.billable) ? uncached : output)
    if (isInput(one.billable)) uncached -= part
    else output -= part
    return { ...one, count: part }
  })
  return fits.filter((one) => one.count > 0)
}

/** The price in the words of the documentation: the variant's line, else the one without a variant, else the dearest. */
function oraclePrice(list: PriceList, { billable, unit, variant }: UnitCount): bigint | undefined {
  const own = (list.lines ?? []).filter((line) => line.billable === billable && line.unit === unit)
  const line = own.find((one) => one.variant === variant) ?? own.find((one) => one.variant === undefined)
  if (line) return BigInt(line.price)
  const [dearest] = own.map(({ price }) => price).sort((a, b) => b - a)
  return dearest === undefined ? undefined : BigInt(dearest)
}

function oracle(list: PriceList, usage: Usage): bigint {
  const base = pricesFor(list, inputTokens(usage))
  let [text, written, total] = [BigInt(usage.uncached), BigInt(usage.output), 0n]
  for (const unit of usage.units ?? []) {
    const price = oraclePrice(list, unit)
    if (price === undefined) continue
    total += BigInt(unit.count) * price
    if (unit.unit !== 'token') continue
    if (unit.billable.startsWith('input')) text -= BigInt(unit.count)
    else written -= BigInt(unit.count)
  }
  total += text * BigInt(base.input) + BigInt(usage.cacheRead) * BigInt(base.cacheRead)
  total +=
    BigInt(usage.cacheWrite5m) * BigInt(base.cacheWrite5m) + BigInt(usage.cacheWrite1h) * BigInt(base.cacheWrite1h)
  total += written * BigInt(base.output)
  return (total + 999n) / 1000n
}

/** Bounds of what `usage` contains, with `spare` more of each, held without a variant. */
function boundsOf({ units = [] }: Usage, spare: number): UnitCount[] {
  const bounds: UnitCount[] = []
  for (const { billable, unit, count: used } of units) {
    const known = bounds.find((one) => one.billable === billable && one.unit === unit)
    if (known) known.count += used
    else bounds.push({ billable, unit, count: used + spare })
  }
  return bounds
}

const listOf = fc.tuple(arbitraryPricing, lines).map(([list, own]) => ({ ...list, lines: own }))

describe('the cost of units', () => {
  test('the cost of units is the exact sum over classes and lines, rounded up once', () => {
    fc.assert(
      fc.property(listOf, usages, (list, usage) => {
        expect(BigInt(requestCost(list, usage))).toBe(oracle(list, usage))
      }),
      { numRuns: 2_000 },
    )
  })

  test('the documented example has its stated cost: pictures at their own price, beside tokens', () => {
    const own: UnitPrice[] = [
      { billable: 'output_image', unit: 'image', price: 40_000_000_000 as Pico },
      { billable: 'output_image', unit: 'image', variant: 'hd', price: 80_000_000_000 as Pico },
      { billable: 'input_audio', unit: 'token', price: 40_000_000 as Pico },
    ]
    const list = { base: prices(2_500_000, 10_000_000), steps: [], lines: own }
    const units: UnitCount[] = [
      { billable: 'output_image', unit: 'image', variant: 'hd', count: 2 },
      { billable: 'output_image', unit: 'image', variant: 'wide', count: 1 },
      { billable: 'input_audio', unit: 'token', count: 300 },
    ]
    // 0.2 for the pictures, 0.012 for the sound, 0.00175 for 700 tokens of text
    expect(requestCost(list, { ...ZERO_USAGE, uncached: 1_000, units })).toBe(213_750_000 as never)
  })

  test('a batch discount lowers line prices too', () => {
    const pricing = { base: prices(1_000, 1_000), steps: [], lines: [line('input_audio', 9_000)] }
    const units: UnitCount[] = [{ billable: 'input_audio', unit: 'token', count: 10 }]
    const usage = { ...ZERO_USAGE, uncached: 10, units }
    const model = atBatchPrice({ ...modelOf(pricing), batchDiscount: 0.5 })
    expect([requestCost(pricing, usage), requestCost(model.pricing, usage)]).toEqual([90, 45] as never)
  })

  test('a unit count above its tokens is charged for these tokens only', () => {
    const list = { base: prices(1_000, 1_000), steps: [], lines: [line('input_audio', 9_000)] }
    const units: UnitCount[] = [{ billable: 'input_audio', unit: 'token', count: 50 }]
    expect(requestCost(list, { ...ZERO_USAGE, uncached: 10, output: 5, units })).toBe(95 as never)
  })
})

const line = (billable: Billable, price: number): UnitPrice => ({ billable, unit: 'token', price: price as Pico })

describe('the highest possible cost of units', () => {
  test('the highest possible cost is never below the cost of a request within its limits', () => {
    fc.assert(
      fc.property(listOf, usages, count, count, (list, usage, spare, more) => {
        const limits = [inputTokens(usage) + spare, usage.output + more] as const
        const worst = worstCaseCost(list, ...limits, undefined, boundsOf(usage, more))
        expect(worst).toBeGreaterThanOrEqual(requestCost(list, withFee(usage, list)))
      }),
      { numRuns: 3_000 },
    )
  })

  test('a hold for pictures is their number at the price of the dearest variant, or of the requested one', () => {
    const own = (variant: string, price: number) =>
      ({ billable: 'output_image', unit: 'image', variant, price: price as Pico }) as const
    const list = { base: prices(0, 0), steps: [], lines: [own('small', 11_000_000), own('hd', 167_000_000)] }
    const most = { billable: 'output_image', unit: 'image', count: 3 } as const
    expect(worstCaseCost(list, 0, 0, undefined, [most])).toBe(501_000 as never)
    expect(worstCaseCost(list, 0, 0, undefined, [{ ...most, variant: 'small' }])).toBe(33_000 as never)
    expect(worstCaseCost(list, 0, 0, undefined, [{ ...most, variant: 'new' }])).toBe(501_000 as never)
  })

  test('a hold for sound covers its tokens at the dearer of two prices, and no more tokens than the limit', () => {
    const list = { base: prices(1_000, 1_000), steps: [], lines: [line('input_audio', 9_000)] }
    const most = (tokensOfSound: number): UnitCount[] => [
      { billable: 'input_audio', unit: 'token', count: tokensOfSound },
    ]
    expect(worstCaseCost(list, 100, 0, undefined, most(10))).toBe(180 as never)
    expect(worstCaseCost(list, 100, 0, undefined, most(1_000))).toBe(900 as never)
    const cheap = { ...list, lines: [line('input_audio', 1)] }
    expect(worstCaseCost(cheap, 100, 0, undefined, most(10))).toBe(100 as never)
  })

  test('a hold covers the fee per request, which each charge contains once', () => {
    const fee: UnitPrice = { billable: 'request', unit: 'request', price: 5_000_000 as Pico }
    const list = { base: prices(1_000, 1_000), steps: [], lines: [fee] }
    expect(worstCaseCost(list, 100, 100)).toBe(5_200 as never)
    const usage = withFee({ ...ZERO_USAGE, uncached: 100, output: 100 }, list)
    expect(usage.units).toEqual([{ billable: 'request', unit: 'request', count: 1 }])
    expect(requestCost(list, usage)).toBe(5_200 as never)
    expect(withFee(ZERO_USAGE, { ...list, lines: [line('input_audio', 1)] })).toBe(ZERO_USAGE)
  })
})

describe('usage beyond a hold', () => {
  const reading = (usage: Usage) =>
    ({ usage, isUsageStale: false, countedOutput: 0, hasOutput: true, finish: 'stop' }) as const

  test('for random usages and holds, no charge exceeds the hold and no part exceeds its tokens', () => {
    const bound = fc
      .constantFrom(...LINED)
      .chain((pair) => fc.record({ ...constants(pair), variant: variants(pair.unit), count }))
      .map(named)
    const mosts = fc
      .array(bound, { maxLength: 6 })
      .map((list) =>
        list.filter(
          (one, index) => list.findIndex((o) => o.billable === one.billable && o.unit === one.unit) === index,
        ),
      )
    fc.assert(
      fc.property(listOf, usages, tokens, tokens, mosts, (list, usage, input, output, most) => {
        const amount = worstCaseCost(list, input, output, undefined, most)
        const bounds = { inputTokens: input, outputTokens: output, units: most }
        const charge = decideCharge('complete', reading(usage), list, { amount, bounds, estimatedInput: 0 })
        if (charge.kind === 'free') throw new Error('a complete answer is charged')
        expect(charge.cost).toBeLessThanOrEqual(amount)
        const { uncached, output: written, units = [] } = charge.usage
        const parts = (side: string) =>
          units.reduce((sum, one) => (one.unit === 'token' && one.billable.startsWith(side) ? sum + one.count : sum), 0)
        expect(parts('input')).toBeLessThanOrEqual(uncached)
        expect(parts('output')).toBeLessThanOrEqual(written)
        for (const one of units) expect(one.count).toBeGreaterThan(0)
      }),
      { numRuns: 3_000 },
    )
  })

  test('a variant dearer than the reserved one costs as much as the reserved one, and is flagged as clamped', () => {
    const own = (variant: string, price: number) =>
      ({ billable: 'output_image', unit: 'image', variant, price: price as Pico }) as const
    const list = { base: prices(0, 0), steps: [], lines: [own('small', 11_000_000), own('hd', 167_000_000)] }
    const held: UnitCount[] = [{ billable: 'output_image', unit: 'image', variant: 'small', count: 2 }]
    const units: UnitCount[] = [{ billable: 'output_image', unit: 'image', variant: 'hd', count: 3 }]
    const covered = {
      amount: worstCaseCost(list, 0, 0, undefined, held),
      bounds: { inputTokens: 0, outputTokens: 0, units: held },
      estimatedInput: 0,
    }
    expect(decideCharge('complete', reading({ ...ZERO_USAGE, units }), list, covered)).toMatchObject({
      ...{ cost: 22_000, flags: ['clamped'], usage: { units: held } },
    })
  })

  test('usage within its bounds is returned as the same object', () => {
    const list = { base: prices(1, 1), steps: [], lines: [line('input_audio', 2)] }
    const units: UnitCount[] = [{ billable: 'input_audio', unit: 'token', count: 5 }]
    const usage = { ...ZERO_USAGE, uncached: 10, units }
    expect(unitsWithin(usage, list.lines, units)).toBe(usage)
    expect(unitsWithin(usage, list.lines, [])).toEqual({ ...ZERO_USAGE, uncached: 10 })
  })

  test('if tokens are cut, sounds and pictures are cut before text', () => {
    const units: UnitCount[] = [
      { billable: 'input_audio', unit: 'token', count: 5 },
      { billable: 'output_image', unit: 'image', count: 1 },
    ]
    const usage = { ...ZERO_USAGE, uncached: 10, output: 3, units }
    expect(tokensWithin(usage, { uncached: 8 }).units?.map((one) => one.count)).toEqual([3, 1])
    expect(tokensWithin(usage, { uncached: 2 }).units?.map((one) => one.count)).toEqual([1])
  })
})
