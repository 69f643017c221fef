/** The cost of an answer to the operator, and gaps between the provider's counts and ours. */
import { describe, expect, test } from 'bun:test'
import { modelOf } from '@test/routing/world'
import type { Pricing } from '@/catalog/types'
import { ZERO_USAGE } from '@/chat/usage'
import type { MeterReading } from '@/gateway/charge/meter'
import { providerBill } from '@/gateway/charge/provider-bill'
import { type Charge, FREE } from '@/ledger/charge'
import { nano, type Pico } from '@/lib/money'

/** 500 and 2,000 nano-USD a token. */
const COST: Pricing = modelOf('svc/alpha', [], { usd: 0.5 }).pricing
const USAGE = { ...ZERO_USAGE, uncached: 100, output: 50 }
const READING: MeterReading = {
  usage: USAGE,
  isUsageStale: false,
  countedOutput: 50,
  hasOutput: true,
  finish: 'stop',
}
const CHARGE: Charge = { kind: 'charge', cost: nano(1), usage: USAGE, rule: 'usage', flags: [] }

function bill(reading: Partial<MeterReading>, charge = CHARGE, cost: Pricing | undefined = COST, estimatedInput = 100) {
  return providerBill({ ...READING, ...reading }, charge, cost, { estimatedInput })
}

function gapsOf(usage: Partial<typeof USAGE>, localInput: number, localOutput: number): string[] | undefined {
  const reading = { usage: { ...ZERO_USAGE, ...usage }, countedOutput: localOutput }
  return bill(reading, CHARGE, undefined, localInput).counts?.gaps
}

describe('the provider’s bill', () => {
  test('the provider’s bill of an answer is the provider’s price times the provider’s counts', () => {
    expect(bill({})).toEqual({ providerCost: nano(150_000) })
  })

  test('the provider’s bill is unknown without a stated cost, and zero if the cost is zero', () => {
    expect(providerBill(READING, CHARGE, undefined, { estimatedInput: 100 })).toEqual({})
    const nothing = modelOf('svc/alpha', [], { usd: 0 }).pricing
    expect(bill({}, CHARGE, nothing)).toEqual({ providerCost: nano(0) })
  })

  test('E24: a cost that the provider states replaces the catalogue’s cost, unless the answer continued after it', () => {
    const statedCost = nano(7)
    expect(bill({ statedCost })).toEqual({ providerCost: statedCost })
    expect(bill({ statedCost }, CHARGE, undefined)).toEqual({ providerCost: statedCost })
    expect(bill({ statedCost, isUsageStale: true })).toEqual({ providerCost: nano(150_000) })
  })

  test('the provider’s bill includes all counts of the provider, whatever was charged', () => {
    const usage = { ...ZERO_USAGE, uncached: 5_000, output: 50 }
    const clamped: Charge = { ...CHARGE, kind: 'charge', flags: ['clamped'] } as Charge
    expect(bill({ usage }, clamped)).toEqual({
      providerCost: nano(2_600_000),
      counts: {
        ...{ gaps: ['input_over', 'clamped'], providerInput: 5_000, providerOutput: 50 },
        ...{ localInput: 100, localOutput: 50 },
      },
    })
  })

  test('the provider’s bill uses our count if the provider reported none', () => {
    expect(bill({ usage: null, countedOutput: 10 })).toEqual({ providerCost: nano(70_000) })
    const early = { ...ZERO_USAGE, uncached: 100, output: 1 }
    expect(bill({ usage: early, isUsageStale: true, countedOutput: 10 })).toEqual({ providerCost: nano(70_000) })
  })

  test('the provider’s bill of a free answer is known only if the answer reported usage', () => {
    expect(bill({ usage: null }, FREE)).toEqual({})
    expect(bill({}, FREE)).toEqual({ providerCost: nano(150_000) })
  })

  test('a cost that the provider states is ignored above the highest possible cost', () => {
    const most = Number.MAX_SAFE_INTEGER
    const usage = { ...ZERO_USAGE, uncached: most, cacheRead: most, output: most }
    const { providerCost, counts } = bill({ usage })
    expect(providerCost).toBeUndefined()
    expect(counts).toMatchObject({ gaps: ['input_over', 'output_over'], providerInput: most, providerOutput: most })
    const dearest = modelOf('svc/alpha', []).pricing
    const base = { ...dearest.base, input: 1_000_000_000_000 as Pico }
    expect(bill({ usage: { ...ZERO_USAGE, uncached: 9_999 } }, CHARGE, { base, steps: [] })).toMatchObject({
      providerCost: nano(9_999_000_000_000),
    })
  })

  test('the provider’s bill includes its tools, if their cost is stated', () => {
    const terms = { name: 'web_search', price: nano(9), per: 'use', unsaidUses: 0 } as const
    const reading = { ...READING, toolUses: { web_search: 2 } }
    const ask = (tools: Parameters<typeof providerBill>[4]) =>
      providerBill(reading, CHARGE, COST, { estimatedInput: 100 }, tools)
    expect(ask([{ ...terms, cost: nano(7) }])).toEqual({ providerCost: nano(150_014) })
    expect(ask([terms])).toEqual({})
  })

  test('the provider’s bill marks tokens without a price', () => {
    expect(bill({ unknownUsage: ['video_tokens'] }, CHARGE, undefined)).toMatchObject({ hasUnpricedUsage: true })
  })
})

describe('count gaps', () => {
  test.each([
    ['input_over', { uncached: 10_000 }, 4_999, 0],
    ['input_over', { uncached: 3_000, cacheRead: 3_000, cacheWrite5m: 2_000, cacheWrite1h: 2_001 }, 5_000, 0],
    ['input_under', { uncached: 4_999 }, 10_000, 0],
    ['output_over', { output: 5_001 }, 0, 2_500],
    ['output_under', { output: 2_499 }, 0, 5_000],
  ] as const)('count gap %s: provider’s count %o, ours %d and %d', (gap, usage, localInput, localOutput) => {
    expect(gapsOf(usage, localInput, localOutput)).toEqual([gap])
  })

  test('count gaps start at a factor of two, and above a short prompt or answer', () => {
    expect(gapsOf({ uncached: 10_000, output: 5_000 }, 5_000, 2_500)).toBeUndefined()
    expect(gapsOf({ uncached: 1_510, output: 510 }, 10, 10)).toBeUndefined()
    expect(gapsOf({ uncached: 1_511, output: 511 }, 10, 10)).toEqual(['input_over', 'output_over'])
  })

  test('reasoning tokens, shown or hidden, cause no output gap', () => {
    expect(gapsOf({ output: 9_000, reasoning: 8_950 }, 0, 60)).toBeUndefined()
    expect(gapsOf({ output: 9_000, reasoning: 8_950 }, 0, 9_000)).toBeUndefined()
    expect(gapsOf({ output: 9_000, reasoning: 100 }, 0, 60)).toEqual(['output_over'])
  })

  test('answers without final output usage have no count gap', () => {
    const early = { ...ZERO_USAGE, uncached: 100, output: 1 }
    expect(bill({ usage: early, isUsageStale: true, countedOutput: 9_000 })).not.toHaveProperty('counts')
    expect(bill({ usage: null, countedOutput: 9_000 })).not.toHaveProperty('counts')
  })
})
