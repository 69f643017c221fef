/** Pages of lists that are loaded completely: each row is shown once, also while rows are added and removed. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { newestFirst, type Place, pageOf } from '@/console/http/pages'

const place = fc.tuple(fc.nat(2), fc.integer({ min: -3, max: 3 }), fc.stringMatching(/^[a-z]{1,4}$/))
const places = fc.uniqueArray(place, { selector: ([, , id]) => id, maxLength: 30 })
const itself = (row: Place) => row

function walk(rowsAt: (page: number) => readonly Place[], limit: number): string[] {
  const seen: string[] = []
  let cursor: string | null | undefined
  for (let page = 0; cursor !== null; page++) {
    const { items, nextCursor } = pageOf(rowsAt(page), { limit, ...(cursor !== undefined && { cursor }) }, itself)
    expect(items.length).toBeLessThanOrEqual(limit)
    seen.push(...items.map(([, , id]) => id))
    cursor = nextCursor
  }
  return seen
}

test('pages of any size together show each row once, in one order', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: 1, max: 10 }), fc.func(fc.integer()), (rows, limit, shuffled) => {
      const whole = walk(() => rows, 100)
      expect(walk((page) => rows.toSorted((one) => shuffled(page, one)), limit)).toEqual(whole)
      expect(whole.toSorted()).toEqual(rows.map(([, , id]) => id).toSorted())
    }),
  )
})

test('page by page, a row that always exists is listed once, although others appear and disappear', () => {
  fc.assert(
    fc.property(places, places, fc.integer({ min: 1, max: 5 }), (rows, others, limit) => {
      const passing = others.filter(([, , id]) => !rows.some((row) => row[2] === id))
      const seen = walk((page) => (page % 2 === 0 ? rows : [...rows, ...passing]), limit)
      const lasting = new Set(rows.map(([, , id]) => id))
      expect(seen.filter((id) => lasting.has(id)).toSorted()).toEqual([...lasting].toSorted())
      expect(new Set(seen).size).toBe(seen.length)
    }),
  )
})

test('rows are sorted by group, then order, then id', () => {
  const rows: Place[] = [
    [1, -5, 'a'],
    [0, 2, 'b'],
    [0, 2, 'a'],
    [0, -1, 'z'],
  ]
  expect(pageOf(rows, {}, itself).items.map((row) => row.join(' '))).toEqual(['0 -1 z', '0 2 a', '0 2 b', '1 -5 a'])
  const [earlier, later] = [new Date(1_000), new Date(2_000)]
  const dated = [newestFirst(earlier, 'early'), newestFirst(later, 'late')]
  expect(pageOf(dated, {}, itself).items.map(([, , id]) => id)).toEqual(['late', 'early'])
})

test.each(['', 'nonsense', btoa('[1,2]'), btoa('["a",1,"b"]'), btoa('[0,1,"a b"]'), btoa('[0,1.5,"a"]')])(
  'the cursor %j, which no page returned, is refused',
  (cursor) => {
    expect(() => pageOf([], { cursor }, itself)).toThrow('The cursor is not one of this list.')
  },
)
