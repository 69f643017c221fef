/** Every documented operation names the invalid query parameter or unknown body field when it refuses a request. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BEHIND_A_PROXY, makeManagementKey, send } from '@test/console/http/management/caller'
import { makeOperatorKey } from '@test/people/operators/caller'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import { isJsonObject, type JsonObject } from '@/lib/json'

type Schema = {
  type?: string
  format?: string
  enum?: string[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}
type Parameter = { name: string; in: string; schema: Schema }
type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: JsonObject }> } }

let gateway: TestGateway
let administrator: Person
let key: string
let operatorKey: string
let operations: { method: string; path: string; operation: Operation }[]

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}), environment: BEHIND_A_PROXY })
  administrator = await signUpPerson(gateway, { role: 'admin' })
  key = (await makeManagementKey(administrator)).key
  operatorKey = (await makeOperatorKey(gateway)).key
  const document = (await (await fetch(`${gateway.url}/docs/json?internal=true`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
})
afterAll(() => gateway.stop())

/** As the operation's own caller: a management key, an operator key, or an administrator at the dashboard. */
function call(method: string, path: string, body?: unknown): Promise<JsonAnswer> {
  const place = path
    .replace('{accountId}', administrator.viewer.accountId)
    .replace('{scope}', 'key')
    .replace(/\{\w+\}/g, 'unknown_0000000000')
  if (path.startsWith('/dashboard/')) return administrator.json(method, place, body)
  return send(gateway, path.startsWith('/v1/operator/') ? operatorKey : key, method, place, body)
}

function refusalOf({ status, body }: JsonAnswer): unknown[] {
  const { error } = body as { error?: { message: string; param: string | null } }
  return [status, error?.param, error?.message]
}

/** What the schema of a parameter forbids; of one that takes any text, what no text may hold, or be. */
function wrongValues(name: string, schema: Schema): string[] {
  const { type, format, enum: words, pattern, minLength = 0, maxLength, minimum, maximum } = schema
  if (type === 'integer' || type === 'number') {
    return ['', 'many', '1.5', 'NaN', String((minimum ?? 1) - 1), String((maximum ?? 1) + 1)]
  }
  if (name === 'cursor') return ['nonsense', btoa('[1]'), 'x'.repeat(501), '\0']
  if (name === 'group_by') return ['', 'nonsense', 'day,day', 'key,model,app']
  if (type === 'boolean' || words || format === 'date') return ['', 'nonsense', '2026-02-30']
  const tooLong = maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]
  const unlike = pattern !== undefined && !new RegExp(pattern).test('') ? [''] : []
  return [...tooLong, ...unlike, ...(minLength > 0 ? [''] : []), '\0']
}

test('an invalid query is refused with the parameter’s name', async () => {
  // Those of the callers' formats answer an API key, and in their own words.
  const asked = operations
    .filter(({ path }) => !/^\/v1(beta|\/messages)\//.test(path))
    .flatMap(({ method, path, operation: { parameters = [] } }) =>
      parameters.filter((one) => one.in === 'query').map(({ name, schema }) => ({ method, path, name, schema })),
    )
  expect(asked.filter(({ path }) => path.startsWith('/v1/')).length).toBeGreaterThan(10)
  const wrong: unknown[] = []
  for (const { method, path, name, schema } of asked) {
    for (const value of wrongValues(name, schema)) {
      const [status, param, message] = refusalOf(
        await call(method, `${path}?${new URLSearchParams({ [name]: value })}`),
      )
      const isNamed = status === 400 && param === name && String(message).includes(name)
      if (!isNamed) wrong.push([method, path, name, value.slice(0, 20), status, param, message])
    }
  }
  expect(wrong).toEqual([])
})

test('an unknown body field is refused with its name, before any change', async () => {
  const changes = operations.filter(
    ({ method, path, operation }) =>
      (path.startsWith('/dashboard/api/') || (path.startsWith('/v1/') && takesFields(operation))) &&
      method !== 'GET' &&
      !path.endsWith('/playground/chat'),
  )
  expect(changes.length).toBeGreaterThan(50)
  const wrong: unknown[] = []
  for (const { method, path, operation } of changes) {
    const [status, param, message] = refusalOf(await call(method, path, { naem: 'a value' }))
    const isTold = isChoice(operation)
      ? param !== 'naem'
      : param === 'naem' && String(message).includes('no such field')
    if (status !== 400 || !isTold) wrong.push([method, path, status, param, message])
  }
  expect(wrong).toEqual([])
})

/** Bodies of callers' own formats have rules of their own; those of the management API take what the dashboard's take. */
function takesFields({ requestBody }: Operation): boolean {
  return requestBody?.content['application/json']?.schema.additionalProperties === false
}

/** One of several bodies, none of which it is: no field is more wrong than another. */
function isChoice({ requestBody }: Operation): boolean {
  const schema = requestBody?.content['application/json']?.schema
  return isJsonObject(schema) && 'anyOf' in schema
}
