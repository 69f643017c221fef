/** Token usage of every chat-completions provider, decoded into five classes; invalid counts are ignored. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { inputTokens } from '@/chat/usage'
import { decodeUsage, encodeUsage } from '@/formats/chat-completions/usage'
import type { JsonObject, JsonValue } from '@/lib/json'
import { usageOf } from './support'

describe('token counts of providers', () => {
  const cases: [name: string, usage: JsonObject, expected: ReturnType<typeof usageOf>][] = [
    ['plain', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, usageOf({ uncached: 10, output: 5 })],
    [
      'with a cache read and write',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      usageOf({ uncached: 3, cacheRead: 4, cacheWrite5m: 3, output: 5, reasoning: 2 }),
    ],
    [
      'cached at the top',
      { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4 },
      usageOf({ uncached: 6, cacheRead: 4, output: 5 }),
    ],
    [
      'cache hits',
      { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 4 },
      usageOf({ uncached: 6, cacheRead: 4, output: 5 }),
    ],
    [
      'reasoning beside the completion',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 241,
        completion_tokens_details: { reasoning_tokens: 228 },
      },
      usageOf({ uncached: 12, output: 229, reasoning: 228 }),
    ],
    [
      'reasoning that cannot be inside the completion',
      { prompt_tokens: 12, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 228 } },
      usageOf({ uncached: 12, output: 229, reasoning: 228 }),
    ],
    [
      'thoughts that only the total shows',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 610 },
      usageOf({ uncached: 100, output: 510, reasoning: 500 }),
    ],
    [
      'some reasoning inside the completion, and more that only the total shows',
      {
        ...{ prompt_tokens: 100, completion_tokens: 300, total_tokens: 900 },
        completion_tokens_details: { reasoning_tokens: 200 },
      },
      usageOf({ uncached: 100, output: 800, reasoning: 500 }),
    ],
    [
      'a cache beside the prompt, which the total holds: no thoughts',
      {
        ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 2_110 },
        prompt_tokens_details: { cached_tokens: 2_000 },
      },
      usageOf({ uncached: 100, cacheRead: 2_000, output: 10 }),
    ],
    [
      'a cache and reasoning beside',
      {
        ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 2_160 },
        prompt_tokens_details: { cached_tokens: 2_000 },
        completion_tokens_details: { reasoning_tokens: 50 },
      },
      usageOf({ uncached: 100, cacheRead: 2_000, output: 60, reasoning: 50 }),
    ],
    [
      'a total below its parts',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 10 },
      usageOf({ uncached: 100, output: 10 }),
    ],
    [
      'reasoning that the total contradicts',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 13,
        completion_tokens_details: { reasoning_tokens: 228 },
      },
      usageOf({ uncached: 12, output: 1, reasoning: 1 }),
    ],
    [
      'more cached than prompted: no discount',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 11 } },
      usageOf({ uncached: 10, output: 5 }),
    ],
    [
      'details of impossible values',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: -1, cache_write_tokens: 1.5 },
        completion_tokens_details: { reasoning_tokens: '3' },
      },
      usageOf({ uncached: 10, output: 5 }),
    ],
    ['null details', { prompt_tokens: 1, completion_tokens: 0, prompt_tokens_details: null }, usageOf({ uncached: 1 })],
  ]
  for (const [name, usage, expected] of cases) test(name, () => expect(decodeUsage(usage)).toEqual(expected))
})

describe('invalid usage', () => {
  const broken: JsonValue[] = [-1, 1.5, '10', null, true, 2 ** 53, 1e308, [], {}]
  for (const value of broken) {
    test(`usage with the count ${JSON.stringify(value)} is ignored`, () => {
      expect(decodeUsage({ prompt_tokens: value, completion_tokens: 1 })).toBeUndefined()
      expect(decodeUsage({ prompt_tokens: 1, completion_tokens: value })).toBeUndefined()
    })
  }

  test('usage in other shapes is ignored', () => {
    for (const value of [undefined, null, 5, 'x', [], {}, { prompt_tokens: 1 }])
      expect(decodeUsage(value)).toBeUndefined()
  })
})

test('encoded usage is decoded the same, with cached tokens inside the prompt', () => {
  const counts = fc.nat({ max: 1_000_000 })
  const usages = fc.record({
    uncached: counts,
    cacheRead: counts,
    cacheWrite5m: counts,
    output: counts,
    share: fc.nat(100),
  })
  fc.assert(
    fc.property(usages, ({ share, ...rest }) => {
      const usage = { ...rest, cacheWrite1h: 0, reasoning: Math.floor((rest.output * share) / 100) }
      const wire = encodeUsage(usage)
      expect(wire.prompt_tokens).toBe(inputTokens(usage))
      expect(wire.total_tokens).toBe(inputTokens(usage) + usage.output)
      expect(decodeUsage(wire)).toEqual(usage)
    }),
  )
})

test('usage of minus zero is zero', () => {
  const usage = decodeUsage(JSON.parse('{"prompt_tokens":-0,"completion_tokens":-0}') as JsonObject)
  expect(Object.is(usage?.uncached, 0) && Object.is(usage?.output, 0)).toBe(true)
})

test('for any usage, the token classes are non-negative integers', () => {
  const number = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom('1', null))
  const details = fc.record(
    { cached_tokens: number, cache_write_tokens: number, reasoning_tokens: number },
    { requiredKeys: [] },
  )
  const usages = fc.record(
    {
      prompt_tokens: fc.oneof(fc.nat(), number),
      completion_tokens: fc.oneof(fc.nat(), number),
      total_tokens: number,
      cached_tokens: number,
      prompt_tokens_details: details,
      completion_tokens_details: details,
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(usages, (wire) => {
      const usage = decodeUsage(wire as JsonObject)
      if (!usage) return
      for (const count of Object.values(usage)) expect(Number.isSafeInteger(count) && Number(count) >= 0).toBe(true)
      expect(inputTokens(usage)).toBeGreaterThanOrEqual(Math.abs(Number(wire.prompt_tokens)))
      expect(usage.output).toBeGreaterThanOrEqual(Number(wire.completion_tokens))
      expect(usage.reasoning).toBeLessThanOrEqual(usage.output)
    }),
  )
})
