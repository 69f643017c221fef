/** A list in a byte stream is split into its entries, wherever the stream is cut. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { JsonObject } from '@/lib/json'
import { SplitError, splitList } from '@/lib/json-source/list-splitter'

type Split = { entries: string[]; rest: JsonObject }

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let start = 0
  for (let index = 0; start < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    yield bytes.subarray(start, start + size)
    start += size
  }
}

async function split(text: string, { sizes = [7], most = 1_000_000 } = {}): Promise<Split> {
  const entries: string[] = []
  const reading = splitList(inPieces(text, sizes), 'requests', most)
  for (;;) {
    const { value, done } = await reading.next()
    if (done) return { entries, rest: value }
    entries.push(new TextDecoder().decode(value))
  }
}

const faultOf = (text: string, options = {}) =>
  split(text, options).then(
    () => undefined,
    (error: unknown) => (error instanceof SplitError ? { fault: error.fault, entries: error.entries } : error),
  )

describe('a list in a stream', () => {
  test('a list is split into its entries, whatever they contain and wherever the stream is cut', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('},{', ']', '"requests":[', '\\'),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 6 }),
        fc.constantFrom(0, 2, '\t'),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        async (requests, space, sizes) => {
          const expected = JSON.parse(JSON.stringify({ first: { n: [7] }, requests, last: 'requests' })) as JsonObject
          const { entries, rest } = await split(JSON.stringify(expected, undefined, space), { sizes })
          expect(entries.map((entry) => JSON.parse(entry))).toEqual(expected.requests as JsonObject[])
          expect(rest).toEqual({ ...expected, requests: [] })
        },
      ),
    )
  })

  test('an invalid entry of a list is passed on as written', async () => {
    const { entries } = await split('{"requests":[{"a":1},nonsense,,{"b":2],]}')
    expect(entries).toEqual(['{"a":1}', 'nonsense', '', '{"b":2]', ''])
  })

  test.each([
    ['another value', '[{"a":1}]'],
    ['no text at all', ''],
    ['an object without the list', '{"other":[1]}'],
    ['a list in a deeper object', '{"a":{"requests":[1]}}'],
    ['two such lists', '{"requests":[],"requests":[]}'],
    ['a text that is broken off', '{"requests":[1,2'],
    ['something after the object', '{"requests":[1]} x'],
    ['a list that a brace closes', '{"requests":[1}}'],
    ['a name in a text', '{"a":"\\"requests\\":[1]"}'],
  ])('a stream with %s is refused', async (_, text) => {
    expect(await faultOf(text)).toMatchObject({ fault: 'no_list' })
  })

  test('an entry above the size limit is refused after the entries before it, and so is a long rest', async () => {
    const long = 'x'.repeat(70_000)
    expect(await faultOf(`{"requests":["a","b","${long}`, { most: 1_000 })).toEqual({ fault: 'long_entry', entries: 2 })
    expect(await faultOf(`{"requests":["a"],"other":"${long}"}`)).toEqual({ fault: 'long_rest', entries: 1 })
    expect(await faultOf(`{${' '.repeat(70_000)}"requests"  :  [1]}`)).toBeUndefined()
  })
})
