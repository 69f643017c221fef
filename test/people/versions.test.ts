/** Changes that name the version they are based on: a newer version is not overwritten, and the refusal contains it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { fillPath } from '@test/console/http/routes'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { MEMBER_POLICY_OPERATIONS } from '@/people/members/operations'
import { type AnyOperation, placeOf } from '@/people/operation'
import { SETTING_OPERATIONS } from '@/people/settings/operations'

type Declared = Pick<AnyOperation<never>, 'name' | 'path' | 'scope'> & { versioned?: unknown }

const OPERATIONS: readonly Declared[] = [
  ...[...KEY_OPERATIONS, ...SETTING_OPERATIONS, ...BUDGET_OPERATIONS],
  ...MEMBER_POLICY_OPERATIONS,
]
const VERSIONED = OPERATIONS.filter(({ path, versioned }) => versioned !== undefined && !path.startsWith('GET '))

/** Two bodies for each of them that change something, one after the other. */
const BODIES: Record<string, readonly [object, object]> = {
  'key.change': [{ name: 'first' }, { monthlyBudgetUsd: '7' }],
  'account.key_policy': [{ maxKeyAgeDays: 30 }, { allowedProviders: ['provider1'] }],
  'account.addresses': [{ allowedAddresses: ['0.0.0.0/0', '::/0'] }, { allowedAddresses: null }],
  'account.member_policy': [{ developersSeeAllUsage: true }, { developersSeeAllUsage: false }],
  'budget.change': [{ dayUsd: '5' }, { weekUsd: '50' }],
  'member.key_policy': [{ allowedProviders: ['provider1'] }, { allowedModels: ['svc/alpha'] }],
}

let gateway: TestGateway
let owner: Person
let keyId: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway)
  const { accountId, userId } = owner.viewer
  const made = await gateway.apiKeys.create({ accountId, name: 'one', createdBy: userId })
  if (made.kind !== 'created') throw new Error(made.kind)
  keyId = made.keyId
})
afterAll(() => gateway.stop())

type Answer = { status: number; etag: string | null; body: object }

async function send(method: string, path: string, body?: object, ifMatch?: string | null): Promise<Answer> {
  const headers = new Headers(body && { 'content-type': 'application/json' })
  if (ifMatch) headers.set('if-match', ifMatch)
  const response = await owner.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: response.status, etag: response.headers.get('etag'), body: (await response.json()) as object }
}

/** The path of an operation on the owner's key, or on their account. */
function pathOf(operation: Declared): string {
  const { accountId, userId } = owner.viewer
  const ids = { accountId, userId, id: keyId, scope: 'key', scopeId: keyId }
  return fillPath(ACCOUNT_PREFIX + placeOf(operation).place, ids)
}

async function auditCount(): Promise<number> {
  const { sql } = gateway.gateway.database
  const [row] = await sql`SELECT count(*)::int AS count FROM audit_entries WHERE account_id = ${owner.viewer.accountId}`
  return row?.count
}

test('each PUT and PATCH operation takes a version if its path has a GET operation', () => {
  const shown = new Set(
    OPERATIONS.filter(({ path }) => path.startsWith('GET ')).map(({ path }) => placeOf({ path }).place),
  )
  const changes = OPERATIONS.filter(({ path }) => /^(?:PUT|PATCH) /.test(path) && shown.has(placeOf({ path }).place))
  expect(VERSIONED.map(({ name }) => name)).toEqual(changes.map(({ name }) => name))
})

test.each(VERSIONED)('$name refuses to overwrite a newer version, and answers with that', async (operation) => {
  const { method } = placeOf(operation)
  const path = pathOf(operation)
  const [first, second] = BODIES[operation.name] ?? []
  const before = await send('GET', path)
  expect(before.etag).toMatch(/^"[0-9a-f]{16}"$/)
  const changed = await send(method, path, first, before.etag)
  expect(changed.status).toBe(200)
  const now = await send('GET', path)
  expect(now.etag).toBe(changed.etag)
  expect(now.etag).not.toBe(before.etag)
  const entries = await auditCount()
  const refused = await send(method, path, second, before.etag)
  expect(refused).toMatchObject({
    ...{ status: 412, etag: now.etag },
    body: { error: { code: 'changed_meanwhile', current: now.body } },
  })
  expect((await send('GET', path)).etag).toBe(now.etag)
  expect(await auditCount()).toBe(entries)
  const either = `"0000000000000000", ${now.etag}`
  expect((await send(method, path, second, either)).status).toBe(200)
})

test.each(VERSIONED)('$name without a version, or with the version *, overwrites any version', async (operation) => {
  const { method } = placeOf(operation)
  const [first, second] = BODIES[operation.name] ?? []
  expect((await send(method, pathOf(operation), first)).status).toBe(200)
  expect((await send(method, pathOf(operation), second, '*')).status).toBe(200)
})

test('using or deactivating a key does not change the version of the key', async () => {
  const path = `${ACCOUNT_PREFIX}/keys/${keyId}`
  const { etag } = await send('GET', path)
  await gateway.apiKeys.deactivate(keyId)
  await gateway.gateway.database.sql`UPDATE api_keys SET spent_month_nano = 5, last_used_at = now() WHERE id = ${keyId}`
  expect((await send('PATCH', path, { name: 'still' }, etag)).status).toBe(200)
})

test('of a hundred concurrent changes to the same version, one is applied and the others are refused', async () => {
  const path = `${ACCOUNT_PREFIX}/keys/${keyId}`
  const { etag } = await send('GET', path)
  const names = Array.from({ length: 100 }, (_, index) => `name ${index}`)
  const answers = await Promise.all(names.map((name) => send('PATCH', path, { name }, etag)))
  const applied = names.filter((_, index) => answers[index]?.status === 200)
  expect(applied).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(99)
  expect((await send('GET', path)).body).toMatchObject({ item: { name: applied[0] } })
  const entries = await gateway.gateway.database
    .sql`SELECT 1 FROM audit_entries WHERE subject = ${keyId} AND action = 'key.change'`
  expect(entries).toHaveLength(1)
})

test('if people add to one list at the same time, and repeat after a 412, no addition is lost', async () => {
  const path = `${ACCOUNT_PREFIX}/keys/${keyId}`
  const own = Array.from({ length: 8 }, (_, index) => `writer${index}=here`)
  async function add(tag: string): Promise<void> {
    const { etag, body } = await send('GET', path)
    const tags = (body as { item: { tags: string[] | null } }).item.tags ?? []
    const { status } = await send('PATCH', path, { tags: [...tags, tag] }, etag)
    if (status === 412) return await add(tag)
    expect(status).toBe(200)
  }
  await Promise.all(own.map(add))
  expect((await send('GET', path)).body).toMatchObject({ item: { tags: own } })
})

test('a management key cannot overwrite a newer version either', async () => {
  const { accountId } = owner.viewer
  const made = await owner.json('POST', `${ACCOUNT_PREFIX}/management-keys`, { name: 'robot', scopes: ['keys:write'] })
  const { key } = made.body as { key: string }
  const call = async (method: string, headers: object, body?: object) => {
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
    return await fetch(`${gateway.url}/v1/keys/${keyId}`, {
      method,
      headers: all,
      ...(body && { body: JSON.stringify(body) }),
    })
  }
  const etag = (await call('GET', {})).headers.get('etag') ?? ''
  expect((await call('PATCH', { 'if-match': etag }, { name: 'first' })).status).toBe(200)
  const refused = await call('PATCH', { 'if-match': etag }, { name: 'second' })
  expect(refused.status).toBe(412)
  expect(await refused.json()).toMatchObject({ error: { current: { item: { name: 'first' } } } })
  expect(await gateway.apiKeys.find(accountId, keyId)).toMatchObject({ name: 'first' })
})
