/** Prices: five token classes, steps over the whole input, one rounding, and a highest cost that no usage exceeds. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { inputCost, listForAnswer, listOfTier, pricesFor, requestCost, worstCaseCost } from '@/catalog/price'
import type { Prices, Pricing } from '@/catalog/types'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import { AssertionError } from '@/lib/assert'
import { arbitraryPricing, prices } from './sample-requests'

const tokens = fc.nat(500_000)
const usages: fc.Arbitrary<Usage> = fc
  .record({ uncached: tokens, cacheRead: tokens, cacheWrite5m: tokens, cacheWrite1h: tokens, output: tokens })
  .map((usage) => ({ ...usage, reasoning: Math.floor(usage.output / 2) }))

function exactCost(list: Prices, usage: Usage): bigint {
  const lines: [number, number][] = [
    [usage.uncached, list.input],
    [usage.cacheRead, list.cacheRead],
    [usage.cacheWrite5m, list.cacheWrite5m],
    [usage.cacheWrite1h, list.cacheWrite1h],
    [usage.output, list.output],
  ]
  const total = lines.reduce((sum, [count, price]) => sum + BigInt(count) * BigInt(price), 0n)
  return (total + 999n) / 1000n
}

function listFor(pricing: Pricing, input: number): Prices {
  return pricing.steps.findLast((step) => input > step.aboveInputTokens)?.prices ?? pricing.base
}

describe('the cost of a request', () => {
  test('the cost of a request is the exact sum over the five token classes, rounded up once', () => {
    fc.assert(
      fc.property(arbitraryPricing, usages, (pricing, usage) => {
        expect(BigInt(requestCost(pricing, usage))).toBe(exactCost(listFor(pricing, inputTokens(usage)), usage))
      }),
      { numRuns: 2000 },
    )
  })

  test('a cost equals the documented example', () => {
    const pricing = { base: prices(2_500_000, 10_000_000, { cacheRead: 250_000, cacheWrite5m: 3_125_000 }), steps: [] }
    const usage = { ...ZERO_USAGE, uncached: 1000, cacheRead: 4000, cacheWrite5m: 100, output: 200, reasoning: 150 }
    // 0.0025 + 0.001 + 0.0003125 + 0.002 USD
    expect(requestCost(pricing, usage)).toBe(5_812_500 as never)
    expect(requestCost(pricing, ZERO_USAGE)).toBe(0 as never)
  })

  test('a cost is rounded up, not to the nearest', () => {
    const pricing = { base: prices(1, 1), steps: [] }
    expect(requestCost(pricing, { ...ZERO_USAGE, uncached: 1 })).toBe(1 as never)
    expect(requestCost(pricing, { ...ZERO_USAGE, uncached: 500, output: 500 })).toBe(1 as never)
    expect(requestCost(pricing, { ...ZERO_USAGE, uncached: 500, output: 501 })).toBe(2 as never)
  })

  test('a step’s prices apply to the whole request if the input exceeds the step’s limit', () => {
    const pricing = { base: prices(1000, 1000), steps: [{ aboveInputTokens: 100, prices: prices(2000, 3000) }] }
    expect(requestCost(pricing, { ...ZERO_USAGE, uncached: 100, output: 10 })).toBe(110 as never)
    expect(requestCost(pricing, { ...ZERO_USAGE, uncached: 100, cacheRead: 1, output: 10 })).toBe(232 as never)
    expect(pricesFor(pricing, 100)).toBe(pricing.base)
  })

  test.each([{ uncached: -1 }, { output: 0.5 }, { cacheRead: Number.NaN }])('a cost is not computed from %j', (bad) => {
    expect(() => requestCost({ base: prices(1, 1), steps: [] }, { ...ZERO_USAGE, ...bad })).toThrow(AssertionError)
  })
})

describe('the highest possible cost', () => {
  test('the highest possible cost is never below the cost of a request within the limits', () => {
    fc.assert(
      fc.property(arbitraryPricing, usages, fc.nat(1000), fc.nat(1000), (pricing, usage, spareInput, spareOutput) => {
        const worst = worstCaseCost(pricing, inputTokens(usage) + spareInput, usage.output + spareOutput)
        expect(worst).toBeGreaterThanOrEqual(requestCost(pricing, usage))
      }),
      { numRuns: 5000 },
    )
  })

  test('a request that writes only to the dearest cache costs the highest possible cost', () => {
    const pricing = { base: prices(1000, 5000, { cacheWrite1h: 2000 }), steps: [] }
    const usage = { ...ZERO_USAGE, cacheWrite1h: 700, output: 30 }
    expect(worstCaseCost(pricing, 700, 30)).toBe(requestCost(pricing, usage))
  })

  test('the highest possible cost includes dearer steps, but no cheaper step that may not apply', () => {
    const cheaper = { base: prices(1000, 1000), steps: [{ aboveInputTokens: 100, prices: prices(1, 1) }] }
    expect(worstCaseCost(cheaper, 200, 0)).toBe(200 as never)
    const dearer = { base: prices(1000, 1000), steps: [{ aboveInputTokens: 100, prices: prices(3000, 1000) }] }
    expect(worstCaseCost(dearer, 100, 0)).toBe(100 as never)
    expect(worstCaseCost(dearer, 101, 0)).toBe(303 as never)
  })

  test('the highest possible cost is never below the cost of the input alone', () => {
    fc.assert(
      fc.property(arbitraryPricing, tokens, (pricing, input) => {
        expect(worstCaseCost(pricing, input, 0)).toBeGreaterThanOrEqual(inputCost(pricing, input))
      }),
    )
  })
})

describe('service tiers', () => {
  const tiered = fc.record({ base: arbitraryPricing, flex: arbitraryPricing, priority: arbitraryPricing })
  const pricings = tiered.map(
    ({ base, ...tiers }): Pricing => ({ ...base, serviceTiers: new Map(Object.entries(tiers)) }),
  )
  const asked = fc.constantFrom(undefined, 'standard', 'flex', 'priority', 'unpriced')
  const answered = fc.constantFrom(undefined, 'standard', 'flex', 'priority', 'unpriced', 'another')

  test('an answer never costs more than its hold, whatever service tier the provider names', () => {
    fc.assert(
      fc.property(pricings, usages, asked, answered, (pricing, usage, one, other) => {
        const list = listForAnswer(pricing, { asked: one, answered: other }, usage)
        const held = worstCaseCost(pricing, inputTokens(usage), usage.output, one)
        expect(requestCost(list, usage)).toBeLessThanOrEqual(held)
      }),
      { numRuns: 2000 },
    )
  })

  test('an answer in a cheaper tier than requested costs at most its own tier’s price', () => {
    fc.assert(
      fc.property(
        pricings,
        usages,
        asked,
        fc.constantFrom('standard', 'flex', 'priority'),
        (pricing, usage, one, other) => {
          const own = listOfTier(pricing, other)
          if (!own) throw new Error('every tier here has a price')
          const charged = requestCost(listForAnswer(pricing, { asked: one, answered: other }, usage), usage)
          expect(charged).toBeLessThanOrEqual(requestCost(own, usage))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('a model without service tiers ignores the requested tier', () => {
    const pricing: Pricing = { base: prices(2, 4), steps: [] }
    for (const answer of [undefined, 'flex', 'standard'])
      expect(listForAnswer(pricing, { asked: undefined, answered: answer }, ZERO_USAGE)).toBe(pricing)
  })
})
