/** Replacing one string inside JSON text: what JSON.parse then reads, and that no other byte moves. */
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
  test('changes what a parse reads at the path and nothing else', () => {
    fc.assert(
      fc.property(documents, fc.string({ unit: 'binary', maxLength: 12 }), (sample, value) => {
        const { path, current } = sample
        const object = build(path, current, sample.before, sample.after)
        const text = sample.areKeysEscaped ? writeWithEscapedNames(object) : JSON.stringify(object, null, sample.indent)
        const expected = build(path, value, sample.before, sample.after)
        const result = replaceStringInJson(text, path, value)
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
  ])('minds %s', (_, text, expected) => {
    expect(replaceStringInJson(text, ['model'], 'svc/y')).toBe(expected)
  })

  test.each([
    ['no such path', '{"a":1}'],
    ['no string there', '{"model":1}'],
    ['a repeated name that is no string in the end', '{"model":"x","model":1}'],
    ['no object', '["model","x"]'],
    ['nothing', ''],
    ['half an object', '{"a":{"model":"y"'],
  ])('leaves the text alone where there is %s', (_, text) => {
    expect(replaceStringInJson(text, ['model'], 'svc/y')).toBe(text)
  })
})

describe('a copy with fields changed', () => {
  const copied = (text: string, changes: JsonObject) => {
    const before = JSON.parse(text) as JsonObject
    return copyJson(text, before, { ...before, ...changes })
  }

  test('says what the changed object says, whatever the rest is', () => {
    const texts = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(documents, texts, fc.jsonValue(), (document, model, added) => {
        const before = build(['model'], document.current, document.before, document.after)
        const text = JSON.stringify(before, undefined, document.indent)
        const changes = { model, added: added as JsonValue }
        const expected = JSON.parse(JSON.stringify({ ...before, ...changes }))
        expect(JSON.parse(copied(text, changes) ?? '')).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('is as it was written but for what differs', () => {
    const text = '{ "content":"ü€😀\\n", "m\\u006fdel" : "a",\n"list":[{"x":"},]\\""}, 5] ,"n":5 } '
    const expected = text.replace('"a"', '"svc/ä"').replace('"n":5 }', '"n":{"of":1},"more":[true]}')
    expect(copied(text, { model: 'svc/ä', n: { of: 1 }, more: [true], none: undefined })).toBe(expected)
  })

  test('is none where a field is gone', () => {
    const text = '{"model":"a","__proto__":1,"max_tokens":5}'
    const before = JSON.parse(text) as JsonObject
    const { max_tokens: _, ...fewer } = before
    expect(copyJson(text, before, fewer)).toBeUndefined()
    expect(copyJson(text, before, { ...before, model: undefined })).toBeUndefined()
    expect(copyJson(text, before, { model: 'a', max_tokens: 5 })).toBeUndefined()
  })
})
