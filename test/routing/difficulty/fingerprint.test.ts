/** Which buckets a text falls into: alike where it is alike, apart where the place or the part of the prompt differs. */
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

describe('buckets', () => {
  test('buckets don’t tell capitals or digits apart, in any alphabet', () => {
    expect(bucketsOf('PROVE ÜBER ДОКАЖИ 2019')).toEqual(bucketsOf('prove über докажи 1847'))
  })

  test('buckets are shared by forms of one word', () => {
    expect(shared('optimise', 'optimising')).toBeGreaterThan(2)
    expect(shared('доказать', 'доказательство')).toBeGreaterThan(2)
  })

  test('buckets are shared by texts without gaps that hold the same words', () => {
    expect(shared('请证明这个定理', '如何证明它')).toBeGreaterThanOrEqual(3)
    expect(shared('翻訳してください', '証明しろ')).toBeLessThan(3)
  })

  test('buckets of an instruction are not those of the material', () => {
    expect(bucketsOf('prove it').intersection(bucketsOf('prove it', true)).size).toBe(0)
  })

  test('a word that opens a text has a bucket of its own', () => {
    const [opening] = [...bucketsOf('prove that')].filter(
      (bucket) => !bucketsOf('now it is time to prove that').has(bucket),
    )
    expect(opening).toBeDefined()
  })

  test('buckets are numbers in range for any text, and name the words they are of', () => {
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
