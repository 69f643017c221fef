/** Field names that guide pages mention with a path: each is a field, a parameter or a value of that path's schema. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { OPERATOR_SCOPES } from '@/accounts/management/operator-keys'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { GUIDE_NAMES, readGuide } from './guide-files'

const METHOD = /^(GET|POST|PUT|PATCH|DELETE) /
const OPERATION = /^(GET|POST|PUT|PATCH|DELETE) (\/[^ ?]*)/
/** A field, a field of a field, or a field of a body with its value. */
const FIELD = /^"?([a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_]*)*)"?(?:: .*)?$/

/** Headers, calls of libraries, values that are no words, and scopes of operator keys. */
const NO_FIELD = new RegExp(`^(?:x-|client\\.|(?:null|true|false|${OPERATOR_SCOPES.join('|')})$)`)

/** What errors are called stands beside paths as well. */
const codes = new Set([...(await readGuide('errors')).matchAll(/^\| (?:\d+ \| )?`(\w+)`/gm)].map(([, code]) => code))

let gateway: TestGateway
let document: JsonObject

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  document = (await (await fetch(`${gateway.url}/docs/json?internal=true`)).json()) as JsonObject
})
afterAll(() => gateway.stop())

/** Each sentence of a page that names one operation, with the fields that it names. */
function namings(text: string): { operation: string; fields: string[] }[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  return prose.split(/(?<=[.;])\s|\n\n|\n(?=[-|#])/).flatMap((sentence) => {
    const spans = [...sentence.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
    const [operation, ...others] = new Set(spans.filter((span) => METHOD.test(span)))
    if (operation === undefined || others.length > 0 || !OPERATION.test(operation)) return []
    const fields = spans.flatMap((span) => (METHOD.test(span) ? [] : (FIELD.exec(span)?.[1] ?? [])))
    return [{ operation, fields: fields.filter((field) => !NO_FIELD.test(field) && !codes.has(field)) }]
  })
}

/** Every field that a request or an answer of the operation may hold, as a path, with its parameters and the words that fields may be. */
function wordsOf(operation: string): Set<string> | undefined {
  const [, method = '', path = ''] = OPERATION.exec(operation) ?? []
  const paths = document.paths as JsonObject
  const found = (paths[path] as JsonObject | undefined)?.[method.toLowerCase()]
  if (!isJsonObject(found)) return undefined
  const words = new Set<string>()
  collect([found.parameters ?? null, found.requestBody ?? null, found.responses ?? null], '', words, new Set())
  return words
}

function collect(value: JsonValue, prefix: string, words: Set<string>, open: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, prefix, words, open)
    return
  }
  if (!isJsonObject(value)) return
  const { $ref: ref, properties, name, const: constant, enum: choices } = value
  if (typeof ref === 'string') {
    if (open.has(ref)) return
    const target = ref
      .slice(2)
      .split('/')
      .reduce<JsonValue>((at, key) => (at as JsonObject)[key] ?? null, document)
    collect(target, prefix, words, new Set([...open, ref]))
    return
  }
  if (typeof name === 'string') words.add(name)
  for (const word of [constant, ...(Array.isArray(choices) ? choices : [])]) words.add(String(word))
  for (const [field, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    // A field of a list's entry goes by its own name.
    for (const path of new Set([field, `${prefix}${field}`])) words.add(path)
    collect(schema as JsonValue, `${field}.`, words, open)
  }
  for (const [key, held] of Object.entries(value)) {
    if (key !== 'properties' && key !== 'example' && key !== 'examples') collect(held as JsonValue, prefix, words, open)
  }
}

function missingIn(text: string): string[] {
  return namings(text).flatMap(({ operation, fields }) => {
    const words = wordsOf(operation)
    if (!words) return [`${operation} is no operation`]
    return fields.filter((field) => !words.has(field)).map((field) => `${field} in ${operation}`)
  })
}

test('every field that a guide page names exists', async () => {
  const pages = await Promise.all(GUIDE_NAMES.map(async (name) => [name, missingIn(await readGuide(name))] as const))
  expect(Object.fromEntries(pages.filter(([, missing]) => missing.length > 0))).toEqual({})
})

test('the guide’s pages name fields of the model list', async () => {
  const texts = await Promise.all(GUIDE_NAMES.map(readGuide))
  const named = texts.flatMap(namings).filter(({ operation }) => operation === 'GET /v1/models')
  const fields = new Set(named.flatMap((naming) => naming.fields))
  for (const field of ['capabilities', 'max_output_tokens', 'pricing.tools', 'kind']) expect(fields).toContain(field)
})

test('the check of field names reports a field that does not exist', () => {
  expect(missingIn('Each has `nonsense` and `pricing.nonsense` in `GET /v1/models`.')).toEqual([
    'nonsense in GET /v1/models',
    'pricing.nonsense in GET /v1/models',
  ])
  expect(missingIn('It has `pricing.tools` in `GET /v1/models`, and `kind`.')).toEqual([])
  expect(missingIn('Ask `GET /v1/nowhere` first.')).toEqual(['GET /v1/nowhere is no operation'])
})
