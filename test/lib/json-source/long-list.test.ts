/** A long list that is read part by part has the same entries, in any notation; text that is no list is refused. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { JsonObject } from '@/lib/json'
import { readList } from '@/lib/json-source/long-list'

/** So long that it is read in several parts. */
const FILLER = 'x'.repeat(50_000)
const bytesOf = (text: string) => new TextEncoder().encode(text)
const whole = (entry: JsonObject) => entry
const read = (text: string) => readList(bytesOf(text), 'data', whole)

describe('a long list', () => {
  test('a long list is read as written: texts like its ends, nested values, any white space', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('},{', ']}', '"},\n{', '\\'),
      fc.jsonValue(),
    )
    const entry = fc.record({ before: value, filler: fc.constant(FILLER), after: value })
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 6, maxLength: 12 }),
        fc.constantFrom(0, 2, '\t'),
        async (entries, space) => {
          const expected = JSON.parse(JSON.stringify({ usage: { n: 7 }, data: entries, last: 'x' })) as JsonObject
          const list = await read(JSON.stringify(expected, undefined, space))
          expect(list?.entries).toEqual(expected.data as JsonObject[])
          expect(list?.around).toMatchObject({ usage: { n: 7 }, last: 'x' })
        },
      ),
    )
  })

  const entries = Array.from({ length: 8 }, (_, index) => `{"index":${index},"filler":"${FILLER}"}`).join(',')
  test.each([
    ['ends in a comma', `{"data":[${entries},]}`],
    ['lacks a comma', `{"data":[${entries}{}]}`],
    ['breaks off', `{"data":[${entries}`],
    ['contains a number', `{"data":[${entries},1]}`],
    ['is another list', `{"list":[${entries}]}`],
    ['is an object', `{"data":{"x":[${entries}]}}`],
  ])('a text that %s is not a list', async (_, text) => {
    expect(await read(text)).toBeUndefined()
  })

  test('a long list with one wrong entry is not a list', async () => {
    const refusing = ({ index }: JsonObject) => (index === 7 ? undefined : index)
    expect(await readList(bytesOf(`{"data":[${entries}]}`), 'data', refusing)).toBeUndefined()
  })

  test('a long list is read in several turns of the event loop', async () => {
    let turns = 0
    let isOver = false
    setImmediate(function count() {
      turns++
      if (!isOver) setImmediate(count)
    })
    await read(`{"data":[${Array.from({ length: 50 }, () => entries).join(',')}]}`)
    isOver = true
    expect(turns).toBeGreaterThan(50)
  })
})
