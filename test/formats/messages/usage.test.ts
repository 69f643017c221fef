/** Token usage in every form that messages providers send. */
import { describe, expect, test } from 'bun:test'
import { messages } from '@/formats/messages/index'
import type { JsonValue } from '@/lib/json'

describe('usage', () => {
  const zero = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }

  test.each<[JsonValue, object | undefined]>([
    [
      { input_tokens: 3, output_tokens: 5 },
      { ...zero, uncached: 3, output: 5 },
    ],
    [{ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: null, cache_creation: null }, zero],
    [
      { input_tokens: 1.2, output_tokens: 2 },
      { ...zero, uncached: 2, output: 2 },
    ],
    [
      { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 9, cache_read_input_tokens: 4 },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 9, cacheRead: 4 },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 3, cacheWrite1h: 4, areWritesSplit: true },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite5m: 6, cacheWrite1h: 4 },
    ],
    [
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_1h_input_tokens: 4 },
      },
      { ...zero, uncached: 1, output: 2, cacheWrite1h: 10 },
    ],
    [
      { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 9 } },
      { ...zero, uncached: 1, output: 2, reasoning: 2 },
    ],
    [{ input_tokens: 1 }, undefined],
    [{ input_tokens: -1, output_tokens: 2 }, undefined],
    [{ input_tokens: 1, output_tokens: '2' }, undefined],
    [{ input_tokens: 1, output_tokens: 2 ** 53 + 2 }, undefined],
    [{ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: -3 }, undefined],
    [{ input_tokens: 1, output_tokens: 2, cache_creation: { ephemeral_1h_input_tokens: 'x' } }, undefined],
    [[], undefined],
    [null, undefined],
  ])('usage is read: %j', (usage, expected) => {
    expect(messages.decodeUsage(usage)).toEqual(expected as never)
  })
})
