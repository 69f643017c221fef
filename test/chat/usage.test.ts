/** Classes of tokens, and which values of a provider are valid counts. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { inputTokens, readCount, ZERO_USAGE } from '@/chat/usage'

test('the input count is the sum of uncached, read and written tokens, without the output', () => {
  const usage = { uncached: 1, cacheRead: 10, cacheWrite5m: 100, cacheWrite1h: 1_000, output: 10_000, reasoning: 5_000 }
  expect(inputTokens(usage)).toBe(1_111)
  expect(inputTokens({ ...ZERO_USAGE, output: 7, reasoning: 7 })).toBe(0)
})

describe('a count', () => {
  test('a token count is any integer that can be added exactly', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (count) => expect(readCount(count)).toBe(count)))
    expect(readCount(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('a token count of minus zero is read as zero', () => {
    expect(Object.is(readCount(-0), 0)).toBe(true)
  })

  test.each([
    ['a negative number', -1],
    ['a fraction', 1.5],
    ['a number too large to be exact', Number.MAX_SAFE_INTEGER + 1],
    ['no number', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a number as text', '12'],
    ['null', null],
    ['nothing', undefined],
    ['a boolean', true],
    ['a list of one', [1]],
  ])('%s is not a valid token count', (_, value) => {
    expect(readCount(value)).toBeUndefined()
  })
})
