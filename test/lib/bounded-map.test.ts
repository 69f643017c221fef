/** The bounded map, compared with a plain list of the entries in order of use; also the cost of a full map. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createBoundedMap } from '@/lib/bounded-map'

type Step = { set: boolean; key: number; value: number }

const step: fc.Arbitrary<Step> = fc.record({ set: fc.boolean(), key: fc.nat(9), value: fc.integer() })

describe('a bounded map', () => {
  test('a bounded map keeps the entries used last, with their latest value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const map = createBoundedMap<number, number>(capacity)
        // The least lately used stands first.
        let list: { key: number; value: number }[] = []
        for (const { set, key, value } of steps) {
          const known = list.find((entry) => entry.key === key)
          const isSurelyHeld = list.slice(-Math.max(1, capacity >> 1)).some((entry) => entry.key === key)
          const found = set ? value : map.get(key)
          if (set) map.set(key, value)
          else if (isSurelyHeld || found !== undefined) expect(found).toBe(known?.value as number)
          if (found !== undefined) list = [...list.filter((entry) => entry.key !== key), { key, value: found }]
        }
        const held = Array.from({ length: 10 }, (_, key) => map.get(key)).filter((value) => value !== undefined)
        expect(held.length).toBe(Math.min(capacity, list.length))
      }),
    )
  })

  test('a bounded map keeps an entry that is read repeatedly', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('steady', 1)
    for (let index = 0; index < 100; index++) {
      map.set(`passing ${index}`, index)
      expect(map.get('steady')).toBe(1)
    }
    expect(map.get('passing 98')).toBeUndefined()
    expect(map.get('passing 99')).toBe(99)
  })

  test('a bounded map distinguishes keys as a Map does', () => {
    const map = createBoundedMap<unknown, string>(3)
    map.set(1, 'number')
    map.set('1', 'text')
    expect([map.get(1), map.get('1')]).toEqual(['number', 'text'])
  })

  test('a bounded map holds falsy values', () => {
    const map = createBoundedMap<string, number | null>(2)
    map.set('zero', 0)
    map.set('null', null)
    expect([map.get('zero'), map.get('null')]).toEqual([0, null])
  })
})
