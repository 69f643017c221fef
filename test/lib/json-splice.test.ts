/** Replacing one string inside JSON text: the parsed result has the new value, and no other byte changes. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { JsonObject, JsonValue } from '@/lib/json'
import { copyJson, replaceStringInJson } from '@/lib/json-splice'

/** JSON text of an object with random content around a string at `path`, in a random style of spacing. */
const documents = fc.record({
  path: fc.constantFrom(['model'], ['message', 'model'], ['a', 'b', 'c']),
  current: fc.oneof(fc.constant('x'), fc.string({ unit: 'binary', maxLength: 12 })),
  before: fc.dictionary(
    fc.oneof(fc.constantFrom('model', 'message', 'a', 'x'), fc.string({ maxLength: 6 })),
    fc.jsonValue(),
    {
      maxKeys: 4,
    },
  ),
  after: fc.dictionary(
    fc.oneof(fc.constantFrom('model', 'choices', 'b'), fc.string({ maxLength: 6 })),
    fc.jsonValue(),
    {
      maxKeys: 4,
    },
  ),
  indent: fc.constantFrom(undefined, 1, '\t', '\r\n '),
  areKeysEscaped: fc.boolean(),
})

function build(path: readonly string[], current: string, before: object, after: object): JsonObject {
  const [key = '', ...rest] = path
  const value = rest.length === 0 ? current : build(rest, current, before, {})
  return { ...(before as JsonObject), [key]: value, ...without(after, key) }
}

function without(object: object, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key && name !== '__proto__'))
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((part, key) => (part as JsonObject)[key], value)
}

/** JSON text with every name spelt in escapes only, which says the same. */
function writeWithEscapedNames(value: JsonValue | undefined): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(writeWithEscapedNames).join(', ')}]`
  const fields = Object.entries(value).map(([name, field]) => `"${escaped(name)}" : ${writeWithEscapedNames(field)}`)
  return `{${fields.join(',')}}`
}

function escaped(name: string): string {
  return Array.from({ length: name.length }, (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  )
}

describe('replacing a string in JSON', () => {
  test('replacing a string changes the value at its path only', () => {
    fc.assert(
      fc.property(documents, fc.string({ unit: 'binary', maxLength: 12 }), (sample, value) => {
        const { path, current } = sample
        const object = build(path, current, sample.before, sample.after)
        const text = sample.areKeysEscaped ? writeWithEscapedNames(object) : JSON.stringify(object, null, sample.indent)
        const expected = build(path, value, sample.before, sample.after)
        const result = replaceStringInJson(text, path, current, value)
        expect(valueAt(JSON.parse(result), path)).toBe(value)
        expect(JSON.parse(result)).toEqual(JSON.parse(JSON.stringify(expected)))
        expect(result.length - text.length).toBe(JSON.stringify(value).length - JSON.stringify(current).length)
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['a nested field of the same name', '{"a":{"model":"x"},"model":"x"}', '{"a":{"model":"x"},"model":"svc/y"}'],
    [
      'the same text inside a string',
      '{"c":"\\"model\\":\\"x\\"","model":"x"}',
      '{"c":"\\"model\\":\\"x\\"","model":"svc/y"}',
    ],
    ['a repeated name: the last one counts', '{"model":"x","model":"x"}', '{"model":"x","model":"svc/y"}'],
    ['a name spelt with escapes', '{"\\u006dodel":"x","a":{"model":"x"}}', '{"\\u006dodel":"svc/y","a":{"model":"x"}}'],
    ['spaces', ' { "model" : "x" } ', ' { "model" : "svc/y" } '],
    ['a value spelt with escapes', '{"model":"\\u0078"}', '{"model":"svc/y"}'],
  ])('replacing a string handles %s', (_, text, expected) => {
    expect(replaceStringInJson(text, ['model'], 'x', 'svc/y')).toBe(expected)
  })

  test.each([
    ['no such path', '{"a":1}'],
    ['no string there', '{"model":1}'],
    ['a repeated name whose last value is no string', '{"model":"x","model":1}'],
    ['no object', '["model","x"]'],
    ['nothing', ''],
    ['half an object', '{"a":{"model":"y"'],
  ])('replacing a string leaves the text unchanged if there is %s', (_, text) => {
    expect(replaceStringInJson(text, ['model'], 'z', 'svc/y')).toBe(text)
  })
})

describe('a copy with fields changed', () => {
  test('a copy of JSON text with changed fields equals the changed object', () => {
    fc.assert(
      fc.property(documents, fc.string({ unit: 'binary' }), fc.jsonValue(), (document, model, added) => {
        const before = build(['model'], document.current, document.before, document.after)
        const after = { ...before, model, added: added as JsonValue }
        const text = JSON.stringify(before, undefined, document.indent)
        const copy = copyJson(text, before, after)
        const isSame = Object.hasOwn(before, 'added') && typeof added !== 'string'
        if (!isSame) expect(JSON.parse(copy ?? '')).toEqual(JSON.parse(JSON.stringify(after)))
      }),
    )
  })

  /** Longer than what is searched at either end. */
  const LONG = JSON.stringify('line\n'.repeat(200))

  test.each([
    ['first', `{"model":"@","messages":[${LONG}]}`],
    ['first, with spaces', `{ "model": "@", "messages": [${LONG}] }`],
    ['last', `{"messages":[${LONG}],"model":"@"}`],
    ['last, with spaces', `{ "messages": [${LONG}], "model" : "@" }\n`],
    ['amid long fields', `{"messages":[${LONG}],"model":"@","tools":[${LONG}]}`],
    ['after a nested one near the start', `{"a":{"model":"x"},"messages":[${LONG}],"model":"@"}`],
    ['far before a nested one near the end', `{"b":${LONG},"model":"@","messages":[${LONG}],"a":{"model":"x"}}`],
    ['amid nested ones near both ends', `{"a":{"model":"x"},"b":${LONG},"model":"@","c":${LONG},"d":[{"model":"x"}]}`],
    ['after its name as a value', `{"user":"model","messages":[${LONG}],"model":"@"}`],
    ['between brackets in strings', `{"user":"}]{[","model":"@","stop":"}]{[","messages":[${LONG}]}`],
    ['before its text in a string', `{"messages":[${LONG}],"model":"@","user":"\\"model\\":\\"x\\"}"}`],
    ['spelt with escapes', `{"\\u006dodel":"@","messages":[{"model":"x"},${LONG}]}`],
  ])('a copy of JSON text changes the outermost field if the name is %s', (_, document) => {
    const text = document.replace('@', 'x')
    const before = JSON.parse(text) as JsonObject
    expect(copyJson(text, before, { ...before, model: 'svc/y' })).toBe(document.replace('@', 'svc/y'))
  })

  test('no copy of JSON text is made if a field is missing, or is no string', () => {
    const text = '{"model":"a","messages":["\\n"],"max_tokens":5}'
    const before = JSON.parse(text) as JsonObject
    const { max_tokens: _, ...fewer } = before
    expect(copyJson(text, before, fewer)).toBeUndefined()
    expect(copyJson(text, before, { ...before, max_tokens: 4 })).toBeUndefined()
    expect(copyJson(text, before, { ...before, messages: ['\n'] })).toBeUndefined()
    expect(copyJson(text, before, { ...before, model: 'b' })).toBe('{"model":"b","messages":["\\n"],"max_tokens":5}')
  })
})
