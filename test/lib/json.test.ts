/** Reading untrusted JSON: limits before parsing, and errors with line and column. */
import { describe, expect, spyOn, test } from 'bun:test'
import { fc } from '@test/support/property'
import { isJsonObject, type JsonValue, PARSED_BOUNDS, parseJson, textOf } from '@/lib/json'
import { readJsonText } from '@/lib/json-text'

test('isJsonObject accepts neither null nor arrays', () => {
  expect([{}, { a: 1 }].every(isJsonObject)).toBe(true)
  expect([null, [], 'a', 1, undefined, true].some(isJsonObject)).toBe(false)
})

test('invalid JSON parses to undefined', () => {
  expect(parseJson('{"a":1}')).toEqual({ a: 1 })
  expect(parseJson('{a:1}')).toBeUndefined()
})

describe('limits on text before it is parsed', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`

  test.each([60_000, 200_000])('JSON nested %p deep is detected without a parse', (levels) => {
    const parse = spyOn(JSON, 'parse')
    expect(parseJson(nested(levels))).toBeUndefined()
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  test('JSON text as deep as the limit is parsed, however long', () => {
    expect(parseJson(nested(900))).toEqual(JSON.parse(nested(900)))
    expect(parseJson(JSON.stringify([nested(60_000), '['.repeat(60_000)]))).toBeArrayOfSize(2)
  })

  test('JSON text of millions of values is not parsed', () => {
    expect(parseJson(`[${'0,'.repeat(PARSED_BOUNDS.values)}0]`)).toBeUndefined()
    expect(parseJson(JSON.stringify('0,'.repeat(PARSED_BOUNDS.values)))).toBeString()
  })
})

describe('a JSON file', () => {
  test('a JSON file is read as by JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(readJsonText(text)).toEqual({ kind: 'parsed', value: JSON.parse(text) })
      }),
      { numRuns: 1000 },
    )
  })

  test('a JSON file is invalid exactly if JSON.parse refuses it', () => {
    const damaged = fc.tuple(fc.json(), fc.nat(60), fc.constantFrom('', ',', '"', '}', ']', '1', 'x', '\\', '\n', ':'))
    fc.assert(
      fc.property(damaged, ([text, at, piece]) => {
        const broken = text.slice(0, at) + piece + text.slice(at + 1)
        const value = parseJson(broken)
        fc.pre(!hasRepeatedNames(broken, value))
        expect(readJsonText(broken)).toEqual(
          value === undefined ? expect.objectContaining({ kind: 'broken' }) : { kind: 'parsed', value },
        )
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['{\n  "a": 1,\n  "b" 2\n}', 3, 7, 'expected :'],
    ['{\n  "a": 1,\n}', 3, 1, 'property name'],
    ['[1, 2', 1, 6, 'expected ]'],
    ['{"a": tru}', 1, 7, 'expected a JSON value'],
    ['', 1, 1, 'too early'],
    ['{} {}', 1, 4, 'nothing more'],
    ['{"a": "b\n"}', 1, 7, 'closing quote'],
    ['{"a": "\\x"}', 1, 7, 'escape'],
    ['{"a": 1,\n "a": 2}', 2, 2, 'given twice'],
    ['{"a": 01}', 1, 7, 'expected a JSON value'],
    ['['.repeat(500), 1, 102, 'nested deeper'],
  ])('%p is broken at line %p, column %p: %s', (text, line, column, message) => {
    expect(readJsonText(text)).toEqual({ kind: 'broken', line, column, message: expect.stringContaining(message) })
  })

  test('a JSON file may begin with a byte order mark and contain any name', () => {
    expect(readJsonText('\uFEFF{"__proto__": 1}')).toEqual({ kind: 'parsed', value: JSON.parse('{"__proto__": 1}') })
  })
})

/** JSON.parse lets a name be given twice, which a file written by a person must not. */
function hasRepeatedNames(text: string, value: JsonValue | undefined): boolean {
  return value !== undefined && (text.match(/"\s*:/g)?.length ?? 0) > (JSON.stringify(value).match(/":/g)?.length ?? 0)
}

test('a string is distinguished from text that looks like JSON', () => {
  expect(textOf('')).toBe('')
  expect(textOf('a')).toBe('a')
  for (const value of [undefined, null, 1, true, ['a'], { text: 'a' }, new String('a')]) {
    expect(textOf(value)).toBeUndefined()
  }
})
