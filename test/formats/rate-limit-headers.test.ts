/** Rate limit headers of each format: durations in the common ones, times in those of messages. */
import { describe, expect, test } from 'bun:test'
import { FORMATS } from '@/formats/index'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'

describe('the common headers', () => {
  test.each([
    [0, '0ms'],
    [6, '6ms'],
    [999, '999ms'],
    [1_200, '1.2s'],
    [59_941, '59.941s'],
    [60_000, '1m0s'],
    [90_500, '1m30.5s'],
  ])('a waiting time of %d milliseconds is written as %s', (resetMs, text) => {
    expect(commonRateLimitHeaders({ requests: { limit: 600, remaining: 599, resetMs } })).toEqual({
      'x-ratelimit-limit-requests': '600',
      'x-ratelimit-remaining-requests': '599',
      'x-ratelimit-reset-requests': text,
    })
  })

  test('an unknown rate limit has no headers', () => {
    expect(commonRateLimitHeaders({})).toEqual({})
    expect(Object.keys(commonRateLimitHeaders({ tokens: { limit: 1, remaining: 0, resetMs: 1 } }))).toHaveLength(3)
  })
})

test('messages headers have the first whole second at which the limit is full again', () => {
  const nowMs = Date.UTC(2026, 2, 10, 12)
  const headersAt = (resetMs: number) =>
    FORMATS.get('messages')?.rateLimitHeaders({ tokens: { limit: 9, remaining: 4, resetMs } }, nowMs)
  expect(headersAt(1)).toEqual({
    'anthropic-ratelimit-tokens-limit': '9',
    'anthropic-ratelimit-tokens-remaining': '4',
    'anthropic-ratelimit-tokens-reset': '2026-03-10T12:00:01Z',
  })
  expect(headersAt(2_000)?.['anthropic-ratelimit-tokens-reset']).toBe('2026-03-10T12:00:02Z')
})
