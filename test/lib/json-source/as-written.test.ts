/** Numbers that are only passed on: read as a double and written with their own digits, in linear time. */
import { describe, expect, test } from 'bun:test'
import { numberText, valueText } from '@test/support/json-texts'
import { fc } from '@test/support/property'
import { isJsonObject, type JsonObject, type JsonValue, PARSED_BOUNDS, parseJson } from '@/lib/json'
import { asWritten, numberOf, parseAsWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { inspectJson } from '@/lib/json-source/scan'

function remembered(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text)
  rememberNumbers(value, text)
  return value
}

function losesNumbers(text: string): boolean {
  return inspectJson(text, PARSED_BOUNDS).losesNumbers
}

describe('a value with long numbers', () => {
  test('a JSON value with long numbers is read as by JSON.parse, and written with the digits of its numbers', () => {
    fc.assert(
      fc.property(valueText, (text) => {
        const list = `[${text}]`
        const value = remembered(list)
        expect(value).toEqual(JSON.parse(list))
        expect(JSON.stringify(asWritten(value))).toBe(list)
        expect(JSON.stringify(parseAsWritten(text))).toBe(text)
      }),
      { numRuns: 3000 },
    )
  })

  test('each part of a JSON value also keeps the digits of its numbers', () => {
    const value = remembered('{"tools":[{"schema":{"max":9223372036854775807}},{"schema":{"max":2}}],"n":1}') as {
      tools: { schema: JsonObject }[]
    }
    const [first, second] = value.tools
    expect(first?.schema.max).toBe(2 ** 63)
    expect(JSON.stringify(asWritten(first?.schema))).toBe('{"max":9223372036854775807}')
    expect(JSON.stringify({ ...asWritten(first?.schema), type: 'object' })).toBe(
      '{"max":9223372036854775807,"type":"object"}',
    )
    expect(asWritten(second)).toBe(second)
    expect(asWritten(value).tools[1]).toBe(second)
  })

  test('of two equal names in a JSON object the last counts, in reading and writing', () => {
    const value = remembered('{"a":[1.0],"b":2.0,"a":{"c":3.00}}')
    expect(value).toEqual({ a: { c: 3 }, b: 2 })
    expect(JSON.stringify(asWritten(value))).toBe('{"a":{"c":3.00},"b":2.0}')
  })

  test('a JSON value without long numbers is not copied', () => {
    const value = remembered('{"a":[1,-2,0.5,1e+21,123456789012345],"b":"1.0","c":null}')
    expect(asWritten(value)).toBe(value)
    expect(asWritten(undefined)).toBeUndefined()
    expect(asWritten('1.0')).toBe('1.0')
  })
})

describe('a number with its digits', () => {
  test('a number with its digits is not an object, and can be read', () => {
    const [number] = parseAsWritten('[1098765432109876543]') as JsonValue[]
    expect(isJsonObject(number)).toBe(false)
    expect(numberOf(number)).toBe(Number('1098765432109876543'))
    expect(numberOf(5)).toBe(5)
    expect(numberOf({ rawJSON: '5' })).toBeUndefined()
  })
})

describe('finding long numbers in JSON', () => {
  test('only numbers that JSON.stringify would change are found', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(numberText, valueText)), (items) => {
        const text = `{"list": [ ${items.join(' , ')} ] }`
        // What JSON.stringify makes of it differs in numbers alone, once there is no space.
        expect(losesNumbers(text)).toBe(JSON.stringify(JSON.parse(text)) !== `{"list":[${items.join()}]}`)
      }),
      { numRuns: 3000 },
    )
  })

  test('strings are unchanged, however they end', () => {
    for (const string of ['"1.0"', '"\\"1.0"', '"\\\\"', '"\\\\\\"-0"', '"a\\\\\\\\"', '"é 1e5"']) {
      expect([string, losesNumbers(`[${string},1]`)]).toEqual([string, false])
      expect([string, losesNumbers(`[${string},1.0]`)]).toEqual([string, true])
    }
  })

  test('invalid JSON causes no error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^["\\\d.eE+-]{0,20}$/)), (text) => {
        losesNumbers(text)
        expect(parseAsWritten(text) === undefined).toBe(parseJson(text) === undefined)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('large input', () => {
  const million = 1_000_000

  test.each([
    ['many long numbers', `[${'1.0,'.repeat(million / 4)}1]`],
    ['many fields with long numbers', `[${'{"a":1.0},'.repeat(million / 10)}1]`],
    ['one number of very many digits', `[${'9'.repeat(million)}]`],
    ['one string of escaped quotes', `["${'\\"'.repeat(million / 2)}",1.0]`],
    ['one string of backslashes', `["${'\\\\'.repeat(million / 2)}",1.0]`],
    ['many small strings', `[${'"1",'.repeat(million / 4)}1.0]`],
    ['minus signs that are no JSON', '-'.repeat(million)],
    ['exponents that are no JSON', '1e'.repeat(million / 2)],
    // What looks at each place more than so often would be at it for longer than any test.
  ])('scanning large JSON input ends: %s', (_name, text) => {
    const value = parseJson(text)
    losesNumbers(text)
    if (value !== undefined) rememberNumbers(value, text)
  })

  test('JSON nested up to the parse limit is read, deeper JSON is refused', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}1.0${']'.repeat(levels)}`
    expect(parseAsWritten(nested(PARSED_BOUNDS.depth + 1))).toBeUndefined()
    expect(JSON.stringify(asWritten(remembered(nested(PARSED_BOUNDS.depth))))).toBe(nested(PARSED_BOUNDS.depth))
  })
})
