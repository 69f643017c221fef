/** Tests the map with an end: against a plain list of what was used in which order, and for what a full one costs. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createBoundedMap } from '@/lib/bounded-map'

type Step = { set: boolean; key: number; value: number }

const step: fc.Arbitrary<Step> = fc.record({ set: fc.boolean(), key: fc.nat(9), value: fc.integer() })

describe('a bounded map', () => {
  test('gives at any moment what a list in the order of use gives', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const map = createBoundedMap<number, number>(capacity)
        // The least lately used stands first.
        let list: { key: number; value: number }[] = []
        for (const { set, key, value } of steps) {
          const known = list.find((entry) => entry.key === key)
          const used = set ? { key, value } : known
          if (set) map.set(key, value)
          else expect(map.get(key)).toBe(known?.value as number)
          if (used) list = [...list.filter((entry) => entry.key !== key), used].slice(-capacity)
        }
        for (const { key, value } of list) expect(map.get(key)).toBe(value)
      }),
    )
  })

  test('keeps what is read again and again while others come and go', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('steady', 1)
    for (let index = 0; index < 100; index++) {
      map.set(`passing ${index}`, index)
      expect(map.get('steady')).toBe(1)
    }
    expect(map.get('passing 98')).toBeUndefined()
    expect(map.get('passing 99')).toBe(99)
  })

  test('tells keys apart as a Map does', () => {
    const map = createBoundedMap<unknown, string>(3)
    map.set(1, 'number')
    map.set('1', 'text')
    expect([map.get(1), map.get('1')]).toEqual(['number', 'text'])
  })

  test('holds a value that counts as false', () => {
    const map = createBoundedMap<string, number | null>(2)
    map.set('zero', 0)
    map.set('null', null)
    expect([map.get('zero'), map.get('null')]).toEqual([0, null])
  })
})
