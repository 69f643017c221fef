/** Finding the vector list in an answer's text without parsing it: only if it is certainly the right list. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { holdsVectors, isNumberedInOrder } from '@/formats/vectors'
import { findUnreadList } from '@/lib/json-source/long-list'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('the vector list of an answer', () => {
  test('the vector list of an answer is found among other fields, in any order and with any white space', () => {
    const entries = fc.array(fc.record({ index: fc.nat(), embedding: fc.array(fc.float({ noNaN: true })) }), {
      minLength: 1,
    })
    const usage = fc.record({ prompt_tokens: fc.nat() })
    fc.assert(
      fc.property(
        entries,
        usage,
        fc.string(),
        fc.constantFrom(0, 2),
        fc.boolean(),
        (data, used, model, space, isFirst) => {
          // What stands around may hold brackets in its texts: then it is not found, and read like anything else.
          fc.pre(!/[[\]]/.test(model))
          const body = isFirst ? { data, model, usage: used } : { model, usage: used, data }
          const found = findUnreadList(bytesOf(JSON.stringify(body, null, space)), 'data')
          expect(found?.around).toEqual({ model, usage: used, data: [] })
          expect(JSON.parse(`[${textOf(found?.inside ?? new Uint8Array())}]`)).toEqual(JSON.parse(JSON.stringify(data)))
        },
      ),
    )
  })

  test.each([
    ['nothing', ''],
    ['text', '<html>[data]</html>'],
    ['a bare list', '[1,2]'],
    ['another list', '{"list":[1]}'],
    ['a list deeper inside', '{"a":{"data":[1]}}'],
    ['a list before it', '{"more":[2],"data":[1]}'],
    ['a list cut off', '{"data":[1,2'],
    ['an answer cut off', '{"data":[1,2]'],
    ['brackets in a text', '{"model":"a[b]","data":[1]}'],
  ])('no vector list is found in %s', (_, text) => {
    expect(findUnreadList(bytesOf(text), 'data')).toBeUndefined()
  })

  const holds = (inside: string, count: number, encoding: 'float' | 'base64') =>
    holdsVectors(bytesOf(inside), { key: '"v":', count, encoding })

  test('the vector list is passed on unparsed if it has the expected number of vectors', () => {
    expect(holds('{"v": [0.1,1e-3]}, {"v":[2]}', 2, 'float')).toBe(true)
    expect(holds('{"v": "nullNaN="}', 1, 'base64')).toBe(true)
  })

  test.each([
    ['[NaN]', '{"v":[NaN]}', 'float'],
    ['an infinite number', '{"v":[1,Infinity]}', 'float'],
    ['null', '{"v":[null]}', 'float'],
    ['an empty vector', '{"v":[]}', 'float'],
    ['an empty text', '{"v":""}', 'base64'],
    ['numbers in the place of a text', '{"v":[1]}', 'base64'],
    ['a text in the place of numbers', '{"v":"AACAPw=="}', 'float'],
    ['too many vectors', '{"v":[1]},{"v":[1]}', 'float'],
    ['too few vectors', '', 'float'],
    ['the end of one list and the beginning of another', '{"v":[1]}],"more":[{"x":1}', 'float'],
    ['the end of one list of texts and the beginning of another', '{"v":"AACAPw=="}],"more":[{"x":1}', 'base64'],
  ] as const)('a vector list with %s is not passed on unparsed', (_, inside, encoding) => {
    expect(holds(inside, 1, encoding)).toBe(false)
  })
})

describe('the index numbers of a vector list', () => {
  const inOrder = (inside: string, count: number) => isNumberedInOrder(bytesOf(inside), '"i":', count)

  test.each([
    ['none', '{"v":[1]},{"v":[2]}', 2, true],
    ['all in order', '{"i":0,"v":[1]},{"v":[2],"i":1}', 2, true],
    ['white space', '{"i": 0 ,"v":[1]},{"v":[2],"i":\n1\n}', 2, true],
    ['shuffled', '{"i":1,"v":[1]},{"i":0,"v":[2]}', 2, false],
    ['a start above 0', '{"i":1,"v":[1]},{"i":2,"v":[2]}', 2, false],
    ['a missing number', '{"i":0,"v":[1]},{"v":[2]}', 2, false],
    ['a text in place of a number', '{"i":0,"v":[1]},{"i":"1","v":[2]}', 2, false],
    ['a fraction', '{"i":0.5,"v":[1]}', 1, false],
  ])('the gateway detects whether index numbers are in order: %s', (_, inside, count, expected) => {
    expect(inOrder(inside, count)).toBe(expected)
  })

  test('the index numbers of a long vector list are read too', () => {
    const entries = Array.from({ length: 12 }, (_, i) => JSON.stringify({ i, v: [i] }))
    expect(inOrder(entries.join(), 12)).toBe(true)
    expect(inOrder([...entries.slice(0, 10), ...entries.slice(10).reverse()].join(), 12)).toBe(false)
  })
})
