/** Token counts of generate-content providers, valid and invalid. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { inputTokens, type Usage } from '@/chat/usage'
import { decodeUsage, encodeUsage, tierOfUsage } from '@/formats/generate-content/usage'
import type { JsonObject, JsonValue } from '@/lib/json'

const NONE: Usage = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }

describe('decodeUsage', () => {
  test.each<[string, JsonObject, Partial<Usage>]>([
    ['plain', { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 }, { uncached: 9, output: 4 }],
    [
      'cached',
      { promptTokenCount: 9, cachedContentTokenCount: 5, candidatesTokenCount: 4 },
      { uncached: 4, cacheRead: 5, output: 4 },
    ],
    [
      'thoughts beside candidates',
      { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 7, totalTokenCount: 20 },
      { uncached: 9, output: 11, reasoning: 7 },
    ],
    [
      'input of tools',
      { promptTokenCount: 9, toolUsePromptTokenCount: 6, candidatesTokenCount: 4, totalTokenCount: 19 },
      { uncached: 15, output: 4 },
    ],
    ['no output', { promptTokenCount: 9, candidatesTokenCount: null }, { uncached: 9 }],
    ['output that only the total includes', { promptTokenCount: 9, totalTokenCount: 20 }, { uncached: 9, output: 11 }],
    [
      'a total below its parts',
      { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 5 },
      { uncached: 9, output: 4 },
    ],
    ['a cache beyond the prompt', { promptTokenCount: 9, cachedContentTokenCount: 10 }, { uncached: 9 }],
  ])('decodeUsage reads %s', (_, wire, expected) => {
    expect(decodeUsage(wire)).toEqual({ ...NONE, ...expected })
  })

  test.each<[JsonValue | undefined]>([
    [undefined],
    [null],
    [[]],
    [{}],
    [{ candidatesTokenCount: 5 }],
    [{ promptTokenCount: -1 }],
    [{ promptTokenCount: 1.5 }],
    [{ promptTokenCount: '9' }],
    [{ promptTokenCount: 9, candidatesTokenCount: -4 }],
    [{ promptTokenCount: 9, candidatesTokenCount: 1e308 }],
    [{ promptTokenCount: 9, thoughtsTokenCount: 2 ** 53 }],
    [{ promptTokenCount: Number.MAX_SAFE_INTEGER, toolUsePromptTokenCount: 1 }],
  ])('the invalid count %j is ignored', (wire) => {
    expect(decodeUsage(wire)).toBeUndefined()
  })

  test('for any usage, counts are non-negative safe integers, with reasoning within output', () => {
    const count = fc.oneof(fc.integer(), fc.maxSafeNat(), fc.double(), fc.string(), fc.constant(null))
    const names = [
      'promptTokenCount',
      'cachedContentTokenCount',
      'candidatesTokenCount',
      'thoughtsTokenCount',
      'toolUsePromptTokenCount',
      'totalTokenCount',
    ]
    const wire = fc.record(Object.fromEntries(names.map((name) => [name, count])), { requiredKeys: [] })
    fc.assert(
      fc.property(wire, (usage) => {
        const decoded = decodeUsage(usage as JsonValue)
        if (!decoded) return
        for (const value of Object.values(decoded)) expect(Number.isSafeInteger(value) && Number(value) >= 0).toBe(true)
        expect(decoded.reasoning).toBeLessThanOrEqual(decoded.output)
      }),
    )
  })
})

test('encoded usage adds up, and keeps input, output, cache and reasoning', () => {
  const count = fc.nat(1_000_000)
  const usage = fc
    .record({
      uncached: count,
      cacheRead: count,
      cacheWrite5m: count,
      cacheWrite1h: count,
      output: count,
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ share, ...rest }) => ({ ...rest, reasoning: Math.floor(rest.output * share) }))
  fc.assert(
    fc.property(usage, (before) => {
      const wire = encodeUsage(before)
      expect(Object.values(wire).every((value) => Number.isSafeInteger(value) && Number(value) >= 0)).toBe(true)
      const after = decodeUsage(wire)
      expect(after && inputTokens(after)).toBe(inputTokens(before))
      expect(after).toMatchObject({ cacheRead: before.cacheRead, output: before.output, reasoning: before.reasoning })
    }),
  )
})

test.each<[JsonValue | undefined, string | undefined]>([
  [{ serviceTier: 'FLEX' }, 'flex'],
  [{ serviceTier: 'standard' }, 'standard'],
  [{ trafficType: 'ON_DEMAND' }, 'standard'],
  [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
  [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
  [{ trafficType: 'PROVISIONED_THROUGHPUT' }, 'provisioned_throughput'],
  [{ trafficType: 'TRAFFIC_TYPE_UNSPECIFIED' }, 'standard'],
  [{ serviceTier: 7 }, undefined],
  [undefined, undefined],
])('the service tier of %j is %s', (usage, tier) => {
  expect(tierOfUsage(usage)).toBe(tier as string)
})
