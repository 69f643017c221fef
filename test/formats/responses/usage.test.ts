/** Usage and finish reasons of the responses format, decoded and encoded; tokens of unknown classes are reported. */
import { describe, expect, test } from 'bun:test'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import { decodeFinishReason, encodeFinishReason } from '@/formats/responses/finish-reason'
import { decodeUsage, encodeUsage, findUnknownUsage } from '@/formats/responses/usage'
import type { JsonObject, JsonValue } from '@/lib/json'

const usageOf = (counts: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...counts })

describe('usage', () => {
  test.each<[string, JsonObject, Usage]>([
    ['without details', { input_tokens: 3, output_tokens: 4 }, usageOf({ uncached: 3, output: 4 })],
    [
      'with counts of cached and written tokens',
      {
        ...{ input_tokens: 100, output_tokens: 50, total_tokens: 150 },
        input_tokens_details: {
          ...{ cached_tokens: 40, cache_write_tokens: 30 },
          cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 },
        },
        output_tokens_details: { reasoning_tokens: 20 },
      },
      usageOf({ uncached: 30, cacheRead: 40, cacheWrite5m: 10, cacheWrite1h: 20, output: 50, reasoning: 20 }),
    ],
    [
      'with only a sum of written tokens',
      { input_tokens: 10, output_tokens: 0, input_tokens_details: { cache_write_tokens: 4 } },
      usageOf({ uncached: 6, cacheWrite5m: 4 }),
    ],
    [
      'with only the parts of written tokens',
      {
        ...{ input_tokens: 10, output_tokens: 0 },
        input_tokens_details: { cache_write_tokens_details: { ttl_12h_tokens: 4 } },
      },
      usageOf({ uncached: 6, cacheWrite1h: 4 }),
    ],
    [
      'whose cache is larger than the input',
      { input_tokens: 10, output_tokens: 1, input_tokens_details: { cached_tokens: 11 } },
      usageOf({ uncached: 10, output: 1 }),
    ],
    [
      'whose total is larger than its parts',
      { input_tokens: 10, output_tokens: 1, total_tokens: 61, output_tokens_details: { reasoning_tokens: 50 } },
      usageOf({ uncached: 10, output: 51, reasoning: 50 }),
    ],
  ])('usage is read: %s', (_, wire, hub) => {
    expect(decodeUsage(wire)).toEqual(hub)
  })

  test.each<[JsonValue | undefined]>([
    [undefined],
    [null],
    [{}],
    [{ input_tokens: 1 }],
    [{ input_tokens: -1, output_tokens: 1 }],
    [{ input_tokens: 1.5, output_tokens: 1 }],
  ])('usage is not read from %j', (wire) => {
    expect(decodeUsage(wire)).toBeUndefined()
  })

  test('encoded usage has both details with all counts, and is decoded the same', () => {
    expect(encodeUsage(ZERO_USAGE)).toEqual({
      ...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
    const hub = usageOf({ uncached: 5, cacheRead: 4, cacheWrite5m: 3, output: 2, reasoning: 1 })
    expect(decodeUsage(encodeUsage(hub))).toEqual(hub)
  })

  test('tokens of an unknown class are reported', () => {
    const wire = { input_tokens: 1, input_tokens_details: { cached_tokens: 1, video_tokens: 5 }, dream_tokens: 2 }
    expect(findUnknownUsage(wire)).toEqual(['input_tokens_details.video_tokens', 'dream_tokens'])
    expect(findUnknownUsage(encodeUsage(usageOf({ output: 5 })))).toBeUndefined()
  })
})

describe('a finish reason', () => {
  const NOTHING = { hasToolCalls: false, hasRefusal: false }
  test.each([
    [{ status: 'completed' }, NOTHING, 'stop', 'completed'],
    [{ status: 'complete' }, NOTHING, 'stop', 'complete'],
    [{ status: 'completed' }, { hasToolCalls: true, hasRefusal: true }, 'tool-calls', 'completed'],
    [{ status: 'completed' }, { hasToolCalls: false, hasRefusal: true }, 'content-filter', 'completed'],
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      { ...NOTHING, hasToolCalls: true },
      'length',
      'max_output_tokens',
    ],
    [{ status: 'incomplete', incomplete_details: null }, NOTHING, 'length', 'incomplete'],
    [{ status: 'incomplete', incomplete_details: { reason: 'steered' } }, NOTHING, 'length', 'steered'],
    [{ status: 'failed' }, NOTHING, 'error', 'failed'],
    [{ status: 'cancelled' }, NOTHING, 'error', 'cancelled'],
  ] as const)('a finish reason is decoded: %j after %j is %s', (response, emitted, kind, raw) => {
    expect(decodeFinishReason(response, emitted)).toEqual({ kind, raw })
  })

  test('a missing finish reason is a stop', () => {
    expect(decodeFinishReason({}, NOTHING)).toEqual({ kind: 'stop' })
  })

  test.each([
    ['stop', 'completed', null],
    ['tool-calls', 'completed', null],
    ['pause', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['context-length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content-filter', 'incomplete', { reason: 'content_filter' }],
    ['error', 'failed', null],
  ] as const)('the finish reason %s is encoded as %s', (kind, status, details) => {
    expect(encodeFinishReason({ kind })).toEqual({ status, incomplete_details: details })
  })
})
