/** The billing matrix as a pure function: one test for each row of docs/BILLING.md. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { usageRecord } from '@test/usage/sample-records'
import { requestCost } from '@/catalog/price'
import type { Pricing } from '@/catalog/types'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import { decideCharge } from '@/gateway/charge/charge'
import type { MeterReading } from '@/gateway/charge/meter'
import type { Bounds } from '@/gateway/hold/hold-size'
import { ENDINGS, type Ending, FREE } from '@/ledger/charge'
import { chargeBasis } from '@/ledger/charge-basis'
import { nano, priceToPico } from '@/lib/money'

const price = (usd: number) => priceToPico(usd) as NonNullable<ReturnType<typeof priceToPico>>
const PRICING: Pricing = {
  base: { input: price(1), cacheRead: price(0.1), cacheWrite5m: price(1.25), cacheWrite1h: price(2), output: price(2) },
  steps: [],
}
const BOUNDS: Bounds = { inputTokens: 1_000, outputTokens: 500 }
const COVERED = { bounds: BOUNDS, estimatedInput: 80, amount: nano(3_000_000) }
const NOTHING: MeterReading = {
  usage: null,
  isUsageStale: false,
  countedOutput: 0,
  hasOutput: false,
  finish: undefined,
}
const USAGE = { ...ZERO_USAGE, uncached: 100, output: 50 }
const decide = (ending: Ending, reading: Partial<MeterReading>, counted?: number) =>
  decideCharge(
    ending,
    { ...NOTHING, ...reading, ...(counted && { countedOutput: counted, isCounted: true }) },
    PRICING,
    COVERED,
  )

const TOKENS = fc.nat({ max: 1_000_000_000 })
const READINGS = fc.record({
  usage: fc.option(
    fc.record({
      ...{ uncached: TOKENS, cacheRead: TOKENS, cacheWrite5m: TOKENS, cacheWrite1h: TOKENS },
      ...{ output: TOKENS, reasoning: TOKENS },
    }),
    { nil: null },
  ),
  isUsageStale: fc.boolean(),
  countedOutput: TOKENS,
  hasOutput: fc.boolean(),
  finish: fc.constantFrom('stop', 'length', 'error', undefined),
  isCounted: fc.constantFrom(true, undefined),
}) as fc.Arbitrary<MeterReading>
const ENDING = fc.constantFrom(...ENDINGS)

describe('billing matrix', () => {
  test('a request refused before the upstream costs nothing', () => {
    expect(decide('refused', { usage: USAGE, hasOutput: true })).toEqual(FREE)
  })

  test('a client that disconnects before the provider got the request pays nothing', () => {
    expect(decide('unanswered', { isUnreached: true })).toEqual(FREE)
    expect(decide('unanswered', {})).toMatchObject({ rule: 'hangup_input' })
  })

  test('a complete answer with usage costs that usage', () => {
    const charge = decide('complete', { usage: USAGE, hasOutput: true, finish: 'stop', countedOutput: 49 })
    expect(charge).toEqual({ kind: 'charge', cost: 200_000 as never, usage: USAGE, rule: 'usage', flags: [] })
  })

  test('a complete answer without usage costs our own count, flagged as estimated', () => {
    const charge = decide('complete', { hasOutput: true, finish: 'stop', countedOutput: 40 })
    expect(charge).toMatchObject({ rule: 'counted', flags: ['estimated'], cost: 160_000 })
  })

  test('a complete answer that only reported early usage costs at least the relayed output', () => {
    const usage = { ...ZERO_USAGE, uncached: 100, output: 1 }
    const charge = decide('complete', { usage, isUsageStale: true, hasOutput: true, finish: 'stop', countedOutput: 30 })
    expect(charge).toMatchObject({ rule: 'usage', usage: { output: 30 }, flags: ['estimated'] })
  })

  test('an answer broken after output costs the last usage, but at least the relayed output', () => {
    const usage = { ...ZERO_USAGE, uncached: 100, output: 1 }
    const charge = decide('broken', { usage, isUsageStale: true, hasOutput: true, countedOutput: 30 })
    expect(charge).toMatchObject({ rule: 'broken_usage', usage: { uncached: 100, output: 30 }, flags: ['estimated'] })
  })

  test('an answer broken after output without usage costs our own count', () => {
    expect(decide('broken', { hasOutput: true, countedOutput: 30 })).toMatchObject({
      rule: 'broken_counted',
      cost: 140_000,
    })
  })

  test('an answer broken before output costs nothing, even if it reported usage', () => {
    expect(decide('broken', { usage: USAGE })).toEqual(FREE)
  })

  test('a client that disconnects pays input and relayed output', () => {
    expect(decide('disconnected', {})).toMatchObject({ rule: 'disconnect_counted', cost: 80_000 })
    expect(decide('disconnected', { hasOutput: true, countedOutput: 10 })).toMatchObject({ cost: 100_000 })
  })

  test('a client that disconnects after the final usage pays exactly that usage', () => {
    const charge = decide('disconnected', { usage: USAGE, hasOutput: true, countedOutput: 70 })
    expect(charge).toMatchObject({ rule: 'disconnect_usage', cost: 200_000, flags: [] })
  })

  test('usage above the possible maximum is limited to it and flagged', () => {
    const usage = {
      ...ZERO_USAGE,
      uncached: 9_000,
      cacheRead: 600,
      cacheWrite1h: 9_000,
      output: 10_000,
      reasoning: 9_999,
    }
    const charge = decide('complete', { usage, finish: 'stop', hasOutput: true })
    expect(charge).toMatchObject({
      flags: ['clamped'],
      usage: { cacheRead: 600, uncached: 400, cacheWrite5m: 0, cacheWrite1h: 0, output: 500, reasoning: 500 },
    })
  })

  test('input above the estimate is charged if the hold covers it, otherwise limited', () => {
    const bounds = { ...BOUNDS, beyond: { inputTokens: 4_000, cost: nano(2_000_000) } }
    const reading = (uncached: number, output = 50) => {
      const usage = { ...ZERO_USAGE, uncached, output }
      return { ...NOTHING, usage, hasOutput: true, finish: 'stop' } as const
    }
    const cost = (...tokens: [uncached: number, output?: number]) =>
      decideCharge('complete', reading(...tokens), PRICING, { ...COVERED, bounds })
    expect(cost(1_900)).toMatchObject({ cost: 2_000_000, usage: { uncached: 1_900 }, flags: [] })
    expect(cost(1_901)).toMatchObject({ cost: 1_100_000, usage: { uncached: 1_000 }, flags: ['clamped'] })
    expect(cost(1_500, 501)).toMatchObject({ usage: { uncached: 1_000, output: 500 }, flags: ['clamped'] })
    const roomy = { ...BOUNDS, beyond: { inputTokens: 1_200, cost: nano(2_000_000) } }
    expect(decideCharge('complete', reading(1_201), PRICING, { ...COVERED, bounds: roomy })).toMatchObject({
      flags: ['clamped'],
    })
  })

  test('a disconnect before the provider’s first byte costs our count of the input, unless it is free', () => {
    const charge = { kind: 'charge', rule: 'hangup_input', cost: 80_000, flags: ['estimated'] }
    expect(decide('unanswered', {})).toMatchObject({ ...charge, usage: { uncached: 80, output: 0 } })
    expect(decide('unanswered', { usage: USAGE, hasOutput: true, countedOutput: 9 })).toMatchObject(charge)
    expect(decide('unanswered', { countedInput: 30 })).toMatchObject({ ...charge, cost: 30_000 })
  })

  test('an exact count is charged rather than an estimate', () => {
    expect(decide('disconnected', { hasOutput: true, countedOutput: 10 }, 30)).toMatchObject({
      ...{ rule: 'disconnect_counted', cost: 140_000, flags: ['estimated'] },
    })
  })

  test('an answer cut beyond its output limit costs our own count, up to the hold', () => {
    const cut = { hasOutput: true, countedOutput: 1_100 }
    expect(decide('cut', cut, 1_100)).toMatchObject({
      rule: 'cut_counted',
      usage: { output: 1_100 },
      flags: ['estimated'],
    })
    const usage = { ...USAGE, output: 2_000 }
    const rich = decide('cut', { ...cut, usage }, 1_900)
    expect(rich).toMatchObject({ rule: 'cut_usage', usage: { output: 1_450 }, cost: 3_000_000, flags: ['clamped'] })
  })

  test('usage beyond the output limit is charged if our count agrees; otherwise the limit is charged', () => {
    const usage = { ...USAGE, output: 900 }
    const reading = { usage, hasOutput: true, finish: 'stop' as const }
    expect(decide('complete', reading, 800)).toMatchObject({ usage: { output: 900 }, flags: [] })
    expect(decide('complete', reading, 600)).toMatchObject({ usage: { output: 600 }, flags: ['clamped'] })
    expect(decide('complete', reading, 400)).toMatchObject({ usage: { output: 500 }, flags: ['clamped'] })
    expect(decide('complete', reading)).toMatchObject({ usage: { output: 500 }, flags: ['clamped'] })
  })

  test('our own count of a disconnected answer is charged up to the output limit', () => {
    expect(decide('disconnected', { hasOutput: true, countedOutput: 700 }, 700)).toMatchObject({
      ...{ usage: { output: 500 }, flags: ['estimated', 'clamped'] },
    })
  })

  test('an empty answer that ended in an error costs nothing', () => {
    for (const finish of ['error', 'unknown'] as const) {
      expect(decide('complete', { usage: { ...USAGE, output: 0 }, finish })).toEqual(FREE)
    }
  })

  test('for random answers, no charge is negative, fractional or above its bounds', () => {
    fc.assert(
      fc.property(ENDING, READINGS, TOKENS, (how, read, estimatedInput) => {
        const charge = decideCharge(how, read, PRICING, { ...COVERED, estimatedInput })
        if (charge.kind === 'free') return
        expect(Number.isSafeInteger(charge.cost)).toBe(true)
        expect(charge.cost).toBeGreaterThanOrEqual(0)
        expect(charge.cost).toBeLessThanOrEqual(COVERED.amount)
      }),
    )
  })

  test('for random answers, a charge is the price of the provider’s counts, or its charge basis says why not', () => {
    const small = { inputTokens: 10_000_000_000, outputTokens: 10_000_000_000 }
    const bases = new Map<string, number>()
    fc.assert(
      fc.property(ENDING, READINGS, TOKENS, fc.constantFrom(BOUNDS, small), (how, read, estimatedInput, bounds) => {
        const charge = decideCharge(how, read, PRICING, { ...COVERED, estimatedInput, bounds })
        if (charge.kind === 'free') return
        const { cost, usage, rule, flags } = charge
        const basis = chargeBasis(usageRecord({ facts: { usage, rule, flags } }))
        bases.set(basis, (bases.get(basis) ?? 0) + 1)
        expect(cost).toBe(requestCost(PRICING, usage))
        if (basis === 'provider') expect(usage).toEqual(read.usage as Usage)
        if (basis === 'clamped' && usage.output <= bounds.outputTokens)
          expect(inputTokens(usage) === bounds.inputTokens || usage.output === bounds.outputTokens).toBe(true)
        if (usage.output > bounds.outputTokens) {
          expect(read.isCounted).toBe(true)
          expect(cost).toBeLessThanOrEqual(COVERED.amount)
        }
        if (basis === 'counted' && how !== 'unanswered') expect(read.usage).toBeNull()
        if (basis === 'relayed') expect(read).toMatchObject({ isUsageStale: true, usage: expect.anything() })
      }),
      { numRuns: 1_000 },
    )
    expect([...bases.keys()].sort()).toEqual(['clamped', 'counted', 'provider', 'relayed'])
  })
})
