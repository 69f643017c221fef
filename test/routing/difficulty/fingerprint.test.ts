/** The buckets of a text for the difficulty score: equal for similar words, separate by part of the prompt. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { BUCKETS, fingerprint } from '@/routing/difficulty/fingerprint'

function bucketsOf(text: string, isPayload = false): Set<number> {
  const buckets = new Set<number>()
  fingerprint(text, isPayload, (bucket) => buckets.add(bucket))
  return buckets
}

function shared(left: string, right: string): number {
  return bucketsOf(left).intersection(bucketsOf(right)).size
}

describe('word buckets', () => {
  test('word buckets ignore capitals and the values of digits, in any alphabet', () => {
    expect(bucketsOf('PROVE ÜBER ДОКАЖИ 2019')).toEqual(bucketsOf('prove über докажи 1847'))
  })

  test('different forms of one word share buckets', () => {
    expect(shared('optimise', 'optimising')).toBeGreaterThan(2)
    expect(shared('доказать', 'доказательство')).toBeGreaterThan(2)
  })

  test('texts without spaces that contain the same words share buckets', () => {
    expect(shared('请证明这个定理', '如何证明它')).toBeGreaterThanOrEqual(3)
    expect(shared('翻訳してください', '証明しろ')).toBeLessThan(3)
  })

  test('words of the instruction and of the material have different buckets', () => {
    expect(bucketsOf('prove it').intersection(bucketsOf('prove it', true)).size).toBe(0)
  })

  test('the first word of a text has its own bucket', () => {
    const [opening] = [...bucketsOf('prove that')].filter(
      (bucket) => !bucketsOf('now it is time to prove that').has(bucket),
    )
    expect(opening).toBeDefined()
  })

  test('word buckets are numbers in range for any text, and name their words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        fingerprint(text, false, (bucket, start, end) => {
          if (bucket < 0 || bucket >= BUCKETS || start < 0 || end > text.length || start >= end)
            throw new Error(`${bucket} ${start} ${end}`)
        })
      }),
    )
  })
})
