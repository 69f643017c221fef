/** Rules for every operation of the management API: unknown fields are refused, and every list has pages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { fillPath } from '@test/console/http/routes'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { MANAGED_OPERATIONS as OPERATIONS } from '@/people/all-operations'
import { BEHIND_A_PROXY, makeManagementKey, send } from './caller'

let gateway: TestGateway
let owner: Person
let key: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}), environment: BEHIND_A_PROXY })
})
afterAll(() => gateway.stop())

/** Another account, and a key of it that has changed nothing in this minute. */
async function begin(): Promise<void> {
  owner = await signUpPerson(gateway)
  key = (await makeManagementKey(owner)).key
}

const call = (method: string, path: string, body?: unknown) => send(gateway, key, method, path, body)
const errorOf = ({ body }: { body: unknown }) =>
  (body as { error: { type: string; param?: string; message: string } }).error

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; additionalProperties?: unknown }

function bodyOf(method: string, path: string): Schema | undefined {
  const route = gateway.gateway.app.routes.find(
    (one) => one.method === method && one.path.replace(/\/$/, '') === ACCOUNT_PREFIX + path,
  )
  return (route?.hooks as { body?: Schema } | undefined)?.body
}

/** Every object within a schema. */
function objectsIn({ properties, items, anyOf = [], ...schema }: Schema): Schema[] {
  const inner = [...Object.values(properties ?? {}), ...(items ? [items] : []), ...anyOf].flatMap(objectsIn)
  return properties ? [{ properties, ...schema }, ...inner] : inner
}

describe('a field that an operation does not know', () => {
  beforeEach(begin)

  const CHANGES = OPERATIONS.filter(({ method }) => method !== 'GET')

  test.each(CHANGES)('an unknown field is refused by its name: $method $path', async ({ method, path }) => {
    const place = `/v1${fillPath(path, { scope: 'key' })}`
    const known = Object.keys(bodyOf(method, path)?.properties ?? {})
    for (const field of ['budget_usd', 'constructor']) {
      const answer = await call(method, place, { [field]: 'a value' })
      expect([field, answer.status, errorOf(answer)]).toMatchObject([
        field,
        400,
        { type: 'invalid_request_error', param: field, message: expect.stringContaining(field) },
      ])
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    }
    for (const field of known) {
      const { status, body } = await call(method, place, { [field]: null })
      expect([field, status, JSON.stringify(body)]).toEqual([
        field,
        status,
        expect.not.stringContaining('no such field'),
      ])
    }
  })

  test('every body of the dashboard refuses unknown fields', () => {
    const routes = gateway.gateway.app.routes.filter(({ path }) => path.startsWith('/dashboard/api/'))
    const objects = routes.flatMap(({ hooks }) => objectsIn((hooks as { body?: Schema } | undefined)?.body ?? {}))
    expect(objects.length).toBeGreaterThan(40)
    for (const { properties, additionalProperties } of objects)
      expect([Object.keys(properties ?? {}), additionalProperties]).toMatchObject([expect.any(Array), { not: {} }])
  })

  test('a refused body changes nothing', async () => {
    const answer = await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: '5', alowedModels: ['svc/alpha'] })
    expect([answer.status, errorOf(answer).param]).toEqual([400, 'alowedModels'])
    expect((await call('GET', '/v1/keys')).body).toMatchObject({ items: [] })
  })
})

describe('a list', () => {
  const LISTS = OPERATIONS.filter(
    ({ method, path }) =>
      method === 'GET' && !path.includes(':') && !path.endsWith('-policy') && path !== '/auto-top-up',
  )

  beforeAll(async () => {
    await begin()
    const account = ACCOUNT_PREFIX.replace(':accountId', owner.viewer.accountId)
    const done = [
      await owner.json('POST', `${account}/organisation`, { name: 'Example GmbH', country: 'DE' }),
      ...(await each(['one', 'two', 'three'], (name) => call('POST', '/v1/keys', { name, monthlyBudgetUsd: null }))),
      ...(await each(['a', 'b', 'c'], (name) =>
        call('POST', '/v1/invitations', { email: `${name}@example.test`, role: 'viewer' }),
      )),
      ...(await each(['10', '20'], (amountUsd) =>
        owner.json('POST', `${account}/orders`, { amountUsd, method: 'bank_transfer' }),
      )),
    ]
    expect(done.map(({ status }) => status)).toEqual(done.map(() => 200))
    for (const role of ['viewer', 'owner', 'admin', 'viewer']) {
      const { userId } = (await signUpPerson(gateway)).viewer
      await gateway.gateway.database.sql`
        INSERT INTO memberships (account_id, user_id, role) VALUES (${owner.viewer.accountId}, ${userId}, ${role})`
    }
  })

  test.each(LISTS)('a list has pages, in one order, with each item once: $path', async ({ path }) => {
    const whole = (await call('GET', `/v1${path}?limit=100`)).body as { items: JsonObject[]; nextCursor: unknown }
    expect([whole.items.length > 1, whole.nextCursor]).toEqual([true, null])
    const seen: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await call('GET', `/v1${path}?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(status).toBe(200)
      const page = body as { items: unknown[]; nextCursor: string | null }
      seen.push(...page.items)
      cursor = page.nextCursor
    }
    expect(seen).toEqual(whole.items)
    expect(seen.every(isJsonObject)).toBe(true)
  })

  test.each(LISTS)('a list refuses another list’s cursor, and limits outside 1 to 100: $path', async ({ path }) => {
    for (const query of ['cursor=nonsense', `cursor=${btoa('[1]')}`]) {
      const answer = await call('GET', `/v1${path}?${query}`)
      expect([query, answer.status, errorOf(answer).param]).toEqual([query, 400, 'cursor'])
    }
    for (const limit of ['0', '101', '1.5', 'all'])
      expect([limit, (await call('GET', `/v1${path}?limit=${limit}`)).status]).toEqual([limit, 400])
  })
})

async function each<Item, Answer>(items: readonly Item[], ask: (item: Item) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(await ask(item))
  return answers
}
