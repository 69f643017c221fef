/** Identifiers: their alphabet, their even distribution, and digests compared with known values. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { AssertionError } from '@/lib/assert'
import { randomBase62, randomId, sha256Hex, toBase62 } from '@/lib/ids'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function fromBase62(text: string): number {
  return [...text].reduce((value, character) => value * 62 + ALPHABET.indexOf(character), 0)
}

describe('random base62', () => {
  test('random base62 has the requested length and alphabet', () => {
    fc.assert(
      fc.property(fc.nat(200), (length) => {
        expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`))
      }),
    )
  })

  test('random base62 uses every character about equally often', () => {
    const counts = new Map<string, number>()
    for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // The mean is 1000 and the deviation 31: ten deviations are no accident.
    expect(Math.min(...counts.values())).toBeGreaterThan(690)
    expect(Math.max(...counts.values())).toBeLessThan(1310)
  })

  test('random base62 never repeats', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => randomId('acct')))
    expect(ids.size).toBe(10_000)
    expect([...ids][0]).toMatch(/^acct_[0-9A-Za-z]{22}$/)
  })
})

describe('numbers in base62', () => {
  test('base62 numbers are padded and can be read back', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger().map(Math.abs), (value) => {
        const text = toBase62(value, 9)
        expect(text).toHaveLength(9)
        expect(fromBase62(text)).toBe(value)
      }),
    )
  })

  test.each([
    [62, 1],
    [-1, 4],
    [0.5, 4],
    [2 ** 53, 20],
  ])('base62 refuses %p in %p characters', (value, length) => {
    expect(() => toBase62(value, length)).toThrow(AssertionError)
  })
})

test('the hash of a key is SHA-256', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
