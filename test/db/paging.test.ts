/** Pages and cursors: each row is shown once, and a cursor that no page returned is refused. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { countUpTo, cutPage, formatCursor, pageSize, readCursor, textLike } from '@/db/paging'
import { AssertionError } from '@/lib/assert'

type Row = { moment: number; id: string }

const isMoment = countUpTo(1_000_000)
const isId = textLike(/^\w{1,20}$/)
const moment = fc.integer({ min: 0, max: 5 })
const id = fc.stringMatching(/^[a-z]{1,6}$/)

describe('pages of a list', () => {
  test('pages contain every row once and in order, for any size', () => {
    const lists = fc.uniqueArray(fc.record<Row>({ moment, id }), { selector: (row) => row.id, maxLength: 40 })
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 12 }), (rows, size) => {
        const list = rows.toSorted(compare)
        const seen: string[] = []
        let pages = 0
        for (let cursor: string | null | undefined; cursor !== null; pages++) {
          const after = readCursor(cursor, [isMoment, isId])
          expect(after !== undefined).toBe(cursor !== undefined)
          const rest = after ? list.filter((row) => compare({ moment: after[0], id: after[1] }, row) < 0) : list
          const page = cutPage(rest.slice(0, size + 1), size, placeOf, (row) => row.id)
          expect(page.items.length).toBeLessThanOrEqual(size)
          seen.push(...page.items)
          cursor = page.nextCursor
        }
        expect(seen).toEqual(list.map((row) => row.id))
        expect(pages).toBe(Math.max(1, Math.ceil(list.length / size)))
      }),
    )
  })

  test('the last page has no next cursor', () => {
    const rows = [
      { moment: 1, id: 'a' },
      { moment: 2, id: 'b' },
    ]
    expect(cutPage(rows, 2, placeOf, (row) => row.id)).toEqual({ items: ['a', 'b'], nextCursor: null })
    expect(cutPage([], 2, placeOf, (row: Row) => row.id)).toEqual({ items: [], nextCursor: null })
    expect(cutPage(rows, 1, placeOf, (row) => row.id).nextCursor).toBe(formatCursor([1, 'a']))
  })

  test('a page has 1 to 100 rows, 50 by default', () => {
    expect([pageSize({}), pageSize({ limit: 1 }), pageSize({ limit: 100 })]).toEqual([50, 1, 100])
    for (const limit of [0, 101, 1.5, Number.NaN]) expect(() => pageSize({ limit })).toThrow(AssertionError)
  })
})

describe('a page’s cursor', () => {
  test('a cursor needs no escaping in a URL', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer())), (place) => {
        expect(formatCursor(place)).toMatch(/^[\w-]*$/)
      }),
    )
  })

  test('a cursor is decoded to its position', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.stringMatching(/^\w{1,20}$/), (number, text) => {
        expect(readCursor(formatCursor([number, text]), [isMoment, isId])).toEqual([number, text])
      }),
    )
  })

  test.each([
    ['nothing', ''],
    ['no JSON', Buffer.from('[1,"a"').toString('base64url')],
    ['no list', Buffer.from('{"0":1,"1":"a","length":2}').toString('base64url')],
    ['too few values', formatCursor([1])],
    ['too many values', formatCursor([1, 'a', 2])],
    ['another type', formatCursor(['1', 'a'])],
    ['a number below the range', formatCursor([-1, 'a'])],
    ['a number above the range', formatCursor([1_000_001, 'a'])],
    ['a fraction', formatCursor([0.5, 'a'])],
    ['a text of another shape', formatCursor([1, "a'; DROP TABLE orders"])],
  ])('a cursor of %s is refused', (_, cursor) => {
    expect(() => readCursor(cursor, [isMoment, isId])).toThrow('The cursor is not one of this list.')
  })

  test('a too long cursor is refused before decoding', () => {
    const isText = textLike(/^/)
    expect(readCursor(formatCursor([1, 'a'.repeat(300)]), [isMoment, isText])).toBeDefined()
    expect(() => readCursor(formatCursor([1, 'a'.repeat(400)]), [isMoment, isText])).toThrow('not one of this list')
  })
})

function placeOf({ moment, id }: Row): [number, string] {
  return [moment, id]
}

function compare(left: Row, right: Row): number {
  return left.moment - right.moment || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
}
