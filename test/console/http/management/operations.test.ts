/** The management API of a whole gateway: what management keys may do, in whose name, and until when. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import { hashKey } from '@/accounts/key-text'
import type { Scope } from '@/accounts/management/scopes'
import { MANAGED_OPERATIONS } from '@/people/all-operations'
import { BEHIND_A_PROXY, makeManagementKey, send } from './caller'

const PATH = '/dashboard/api/a/:accountId/management-keys'

let gateway: TestGateway
let owner: Person
let accountId: string
let manager: { id: string; key: string }

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    environment: BEHIND_A_PROXY,
  })
})
afterAll(() => gateway.stop())

beforeEach(async () => {
  owner = await signUpPerson(gateway, { name: 'Olga Owner' })
  accountId = owner.viewer.accountId
  manager = await makeManagementKey(owner)
})

const call = (method: string, path: string, body?: unknown) => send(gateway, manager.key, method, path, body)
const sql = () => gateway.gateway.database.sql

async function addMember(role: string): Promise<Person> {
  const person = await signUpPerson(gateway)
  await sql()`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${person.viewer.userId}, ${role})`
  return person
}

async function becomeOrganisation(): Promise<void> {
  const company = { name: 'Example GmbH', country: 'DE' }
  expect((await owner.json('POST', '/dashboard/api/a/:accountId/organisation', company)).status).toBe(200)
}

describe('a management key', () => {
  test('a management key is shown once, stored as a hash, listed without its text, and audited', async () => {
    expect(manager.key).toMatch(/^svc-mgmt-[0-9A-Za-z]{36}$/)
    const [row] = await sql()`SELECT * FROM management_keys WHERE id = ${manager.id}`
    expect(row?.key_hash).toBe(hashKey(manager.key))
    expect(JSON.stringify(row)).not.toContain(manager.key)
    const { body } = await owner.json('GET', PATH)
    expect(body).toMatchObject({
      items: [{ id: manager.id, prefix: manager.key.slice(0, 13), lastFour: manager.key.slice(-4), isExpired: false }],
    })
    expect(JSON.stringify(body)).not.toContain(manager.key)
    const [entry] = await sql()`SELECT * FROM audit_entries WHERE subject = ${manager.id}`
    expect(entry).toMatchObject({
      action: 'management_key.create',
      actor_id: owner.viewer.userId,
      account_id: accountId,
    })
    expect(gateway.logLines.join()).not.toContain(manager.key)
  })

  test('a management key is made only after a fresh proof', async () => {
    await sql()`UPDATE sessions SET proved_at = now() - interval '1 hour' WHERE user_id = ${owner.viewer.userId}`
    const body = { name: 'another', scopes: [] }
    expect(await owner.json('POST', PATH, body)).toMatchObject({
      status: 403,
      body: { error: { code: 'step_up_required' } },
    })
    const proof = { password: owner.password }
    expect((await owner.json('POST', '/dashboard/api/session/step-up', proof)).status).toBe(200)
    expect((await owner.json('POST', PATH, body)).status).toBe(200)
  })

  test.each([
    { scopes: ['keys'] },
    { scopes: ['keys:read', 'keys:read'] },
    { scopes: [], expiresAt: '2020-01-01' },
    {},
  ])('a management key with %j is not created', async (wrong) => {
    expect((await owner.json('POST', PATH, { name: 'another', ...wrong })).status).toBe(400)
  })

  test('a management key reports its account and scopes', async () => {
    const { status, body } = await call('GET', '/v1/account')
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: accountId, name: 'Olga Owner', kind: 'personal' },
        managementKey: {
          id: manager.id,
          name: expect.any(String),
          scopes: expect.arrayContaining(['keys:write']),
          expiresAt: null,
        },
      },
    ])
  })

  test.each([
    ['revoked', () => owner.json('DELETE', `${PATH}/${manager.id}`)],
    ['expired', () => sql()`UPDATE management_keys SET expires_at = now() WHERE id = ${manager.id}`],
    [
      'of a person whom an operator disabled',
      () => sql()`UPDATE users SET disabled_at = now() WHERE id = ${owner.viewer.userId}`,
    ],
  ])('a management key is refused from the next request on once it is %s', async (_, end) => {
    expect((await call('GET', '/v1/keys')).status).toBe(200)
    await end()
    expect(await call('GET', '/v1/keys')).toMatchObject({
      status: 401,
      body: { error: { code: 'management_key_required' } },
    })
  })

  test('a management key can be kept when the member who made it leaves', async () => {
    await becomeOrganisation()
    const admin = await addMember('admin')
    const { body } = await admin.json('POST', PATH.replace(':accountId', accountId), {
      name: 'robot',
      scopes: ['keys:read'],
    })
    const { key } = body as { key: string }
    await sql()`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${admin.viewer.userId}`
    expect((await send(gateway, key, 'GET', '/v1/keys')).status).toBe(200)
    const listed = await owner.json('GET', PATH)
    expect(JSON.stringify(listed.body)).toContain('"isMember":false')
  })

  test('a management key works from the account’s allowed addresses only', async () => {
    await sql()`UPDATE accounts SET allowed_addresses = '{192.0.2.0/24}' WHERE id = ${accountId}`
    expect(await call('GET', '/v1/keys')).toMatchObject({
      status: 403,
      body: { error: { code: 'address_not_allowed' } },
    })
    const from = { 'x-forwarded-for': '192.0.2.7' }
    expect((await send(gateway, manager.key, 'GET', '/v1/keys', undefined, from)).status).toBe(200)
  })

  test.each([
    ['/v1/chat/completions', { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v1/messages', { model: 'svc/alpha', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v1/responses', { model: 'svc/alpha', input: 'Hi' }],
    ['/v1beta/models/svc%2Falpha:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  ])('%s refuses a management key, which calls no models, in its own format', async (path, body) => {
    const answer = await call('POST', path, body)
    expect(answer.status).toBe(401)
    expect(JSON.stringify(answer.body)).toContain('it manages an account and calls no models')
  })

  test('the management API refuses an API key', async () => {
    const customer = await gateway.customer('1')
    expect((await send(gateway, customer.key, 'GET', '/v1/keys')).status).toBe(401)
    expect((await send(gateway, undefined, 'GET', '/v1/keys')).status).toBe(401)
    const cookie = { cookie: owner.cookie }
    expect((await send(gateway, undefined, 'GET', '/v1/keys', undefined, cookie)).status).toBe(401)
  })

  test('a management key may make at most 60 changes a minute', async () => {
    const statuses: number[] = []
    for (let change = 0; change < 61; change++) statuses.push((await call('POST', '/v1/keys/key_0/deactivate')).status)
    expect(statuses).toEqual([...Array(60).fill(404), 429])
    expect((await call('GET', '/v1/keys')).status).toBe(200)
  })
})

describe('changes by the management API', () => {
  type Created = { key: string; item: { id: string; createdBy: unknown } }

  test('keys are created, changed, rotated, deactivated, activated and deleted', async () => {
    await addCredit(gateway, accountId, '1')
    const made = await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: '5' })
    const { key, item } = made.body as Created
    expect([made.status, item.createdBy]).toEqual([200, null])
    await ask(gateway, key)
    const path = `/v1/keys/${item.id}`
    expect((await call('PATCH', path, { name: 'renamed' })).body).toMatchObject({ name: 'renamed' })
    const rotated = (await call('POST', `${path}/rotate`, { overlap: '0' })).body as Created
    await ask(gateway, rotated.key)
    expect((await call('POST', `${path}/deactivate`)).body).toMatchObject({ status: 'deactivated' })
    expect((await call('POST', `${path}/activate`)).body).toMatchObject({ status: 'active' })
    expect((await call('GET', path)).body).toMatchObject({ item: { name: 'renamed' } })
    expect((await call('DELETE', path)).body).toEqual({ deleted: true })
    expect((await call('GET', path)).status).toBe(404)
    const entries =
      await sql()`SELECT action, actor_id, details->>'managementKey' AS by FROM audit_entries WHERE subject = ${item.id}`
    expect(entries.map(({ action }) => action)).toContain('key.rotate')
    for (const { actor_id, by } of entries) expect([actor_id, by]).toEqual([owner.viewer.userId, manager.id])
  })

  test('setting a key’s budgets needs budgets:write, for new and existing keys', async () => {
    const scoped = async (...scopes: Scope[]) => (await makeManagementKey(owner, scopes)).key
    const [keysOnly, both] = [await scoped('keys:write'), await scoped('keys:write', 'budgets:write')]
    const make = (key: string, monthlyBudgetUsd: string | null) =>
      send(gateway, key, 'POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd })
    const missing = { status: 403, body: { error: { code: 'scope_missing', scope: 'budgets:write' } } }
    for (const budget of [null, '5', '0.01']) expect(await make(keysOnly, budget)).toMatchObject(missing)
    expect(await make(keysOnly, '0')).toMatchObject({ status: 200 })
    const made = await make(both, '5')
    const path = `/v1/keys/${(made.body as { item: { id: string } }).item.id}`
    const change = (key: string, body: object) => send(gateway, key, 'PATCH', path, body)
    for (const monthlyBudgetUsd of [null, '5.01']) {
      expect(await change(keysOnly, { monthlyBudgetUsd })).toMatchObject(missing)
    }
    expect(await change(keysOnly, { name: 'renamed', monthlyBudgetUsd: '4' })).toMatchObject({ status: 200 })
    expect(await change(keysOnly, { monthlyBudgetUsd: '5' })).toMatchObject(missing)
    expect(await change(both, { monthlyBudgetUsd: null })).toMatchObject({ status: 200 })
  })

  test('changing a member’s key needs budgets:write, as it shares the member’s budgets', async () => {
    await becomeOrganisation()
    const [from, to] = [(await addMember('developer')).viewer.userId, (await addMember('developer')).viewer.userId]
    const made = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: from })
    if (made.kind !== 'created') throw new Error(made.kind)
    const path = `/v1/keys/${made.keyId}/transfer`
    const { key } = await makeManagementKey(owner, ['keys:write'])
    expect((await call('PUT', `/v1/budgets/member/${from}`, { dayUsd: '0' })).status).toBe(200)
    const missing = { status: 403, body: { error: { code: 'scope_missing', scope: 'budgets:write' } } }
    expect(await send(gateway, key, 'POST', path, { userId: to })).toMatchObject(missing)
    expect(await call('POST', path, { userId: to })).toMatchObject({ status: 200 })
    const service = await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: null })
    const ofAll = `/v1/keys/${(service.body as { item: { id: string } }).item.id}/transfer`
    expect(await send(gateway, key, 'POST', ofAll, { userId: from })).toMatchObject({ status: 200 })
  })

  test('budgets are set, read and granted', async () => {
    const path = `/v1/budgets/account/${accountId}`
    expect((await call('PUT', path, { dayUsd: '10' })).body).toMatchObject({ scope: 'account' })
    expect((await call('POST', `${path}/grant`, { window: 'day', usd: '5' })).status).toBe(200)
    expect(JSON.stringify((await call('GET', '/v1/budgets')).body)).toContain('"grantedUsd":"5"')
  })

  test('members are listed, given roles up to admin, and removed, except owners', async () => {
    await becomeOrganisation()
    const { userId } = (await addMember('viewer')).viewer
    expect((await call('PATCH', `/v1/members/${userId}`, { role: 'developer' })).body).toEqual({
      role: 'developer',
      revoked: [],
    })
    expect((await call('GET', `/v1/members/${userId}`)).body).toMatchObject({
      userId,
      role: 'developer',
      activeKeys: 0,
    })
    expect((await call('PATCH', `/v1/members/${userId}`, { role: 'owner' })).status).toBe(403)
    expect((await call('PATCH', `/v1/members/${owner.viewer.userId}`, { role: 'viewer' })).status).toBe(403)
    expect((await call('DELETE', `/v1/members/${owner.viewer.userId}`)).status).toBe(403)
    expect((await call('DELETE', `/v1/members/${userId}`)).body).toEqual({ removed: true, revoked: [] })
    expect(JSON.stringify((await call('GET', '/v1/members')).body)).not.toContain(userId)
  })

  test('invitations are sent in the name of the management key’s maker, never as owner', async () => {
    await becomeOrganisation()
    const email = `${crypto.randomUUID()}@example.test`
    expect((await call('POST', '/v1/invitations', { email, role: 'owner' })).status).toBe(403)
    const { status, body } = await call('POST', '/v1/invitations', { email, role: 'developer' })
    expect(status).toBe(200)
    const { invitationId } = body as { invitationId: string }
    expect((await call('GET', '/v1/invitations')).body).toMatchObject({ items: [{ email, invitedBy: 'Olga Owner' }] })
    expect((await call('POST', `/v1/invitations/${invitationId}/resend`)).status).toBe(200)
    expect((await call('POST', `/v1/invitations/${invitationId}/revoke`)).body).toEqual({ done: true })
  })

  test('orders and the audit log are read page by page, without other people’s data', async () => {
    await addCredit(gateway, accountId, '1')
    expect((await call('GET', '/v1/orders')).body).toMatchObject({ items: [], nextCursor: null })
    await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: null })
    const first = (await call('GET', '/v1/audit?limit=1')).body as { items: object[]; nextCursor: string }
    expect(first.items).toMatchObject([
      { action: 'key.create', actor: { email: owner.email }, details: { managementKey: manager.id } },
    ])
    const next = await call('GET', `/v1/audit?limit=100&cursor=${first.nextCursor}`)
    expect(JSON.stringify(next.body)).toContain('management_key.create')
    const { items } = next.body as { items: { action: string; actor: unknown; details: object }[] }
    for (const { actor, details } of items.filter((entry) => entry.actor === null))
      expect([actor, details]).toEqual([null, {}])
    expect((await call('GET', '/v1/audit?cursor=nonsense')).status).toBe(400)
  })

  test('the management API sums the usage of the whole account', async () => {
    await addCredit(gateway, accountId, '1')
    const { key } = (await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: null })).body as Created
    await ask(gateway, key)
    await flushed(gateway, accountId)
    expect((await call('GET', '/v1/usage/report?group_by=key')).body).toMatchObject({ total: { requests: 1 } })
    const other = await makeManagementKey(owner, ['keys:write'])
    expect(await send(gateway, other.key, 'GET', '/v1/usage/report')).toMatchObject({ status: 403 })
  })

  test('a management key gets a 404 for other accounts', async () => {
    const other = await gateway.customer('1')
    const stranger = await signUpPerson(gateway)
    for (const [method, path, body] of [
      ['GET', `/v1/keys/${other.keyId}`],
      ['PATCH', `/v1/keys/${other.keyId}`, { name: 'mine' }],
      ['POST', `/v1/keys/${other.keyId}/rotate`, {}],
      ['DELETE', `/v1/keys/${other.keyId}`],
      ['GET', `/v1/budgets/key/${other.keyId}`],
      ['PUT', `/v1/budgets/account/${other.accountId}`, { dayUsd: '1' }],
      ['GET', `/v1/members/${stranger.viewer.userId}`],
      ['PATCH', `/v1/members/${stranger.viewer.userId}`, { role: 'viewer' }],
      ['DELETE', `/v1/members/${stranger.viewer.userId}`],
    ] as const) {
      expect([path, (await call(method, path, body)).status]).toEqual([path, 404])
    }
  })

  test('a refused body changes nothing, and is named with the request id', async () => {
    const answer = await call('POST', '/v1/keys', { name: 'robot', monthlyBudgetUsd: '5', alowedModels: ['svc/alpha'] })
    const error = { type: 'invalid_request_error', param: 'alowedModels' }
    expect(answer).toMatchObject({ status: 400, body: { error } })
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect((await call('GET', '/v1/keys')).body).toMatchObject({ items: [] })
    const text = await send(gateway, manager.key, 'POST', '/v1/keys', undefined, { 'content-type': 'text/plain' })
    expect([400, 415]).toContain(text.status)
  })
})

describe('a list', () => {
  const LISTS = MANAGED_OPERATIONS.filter(
    ({ method, path }) =>
      method === 'GET' && !path.includes(':') && !path.endsWith('-policy') && path !== '/auto-top-up',
  )
  type Page = { items: object[]; nextCursor: string | null }

  beforeEach(async () => {
    await becomeOrganisation()
    for (const name of ['one', 'two', 'three']) await call('POST', '/v1/keys', { name, monthlyBudgetUsd: null })
    for (const name of ['a', 'b', 'c'])
      await call('POST', '/v1/invitations', { email: `${name}@example.test`, role: 'viewer' })
    for (const amountUsd of ['10', '20'])
      await owner.json('POST', '/dashboard/api/a/:accountId/orders', { amountUsd, method: 'bank_transfer' })
    for (const role of ['viewer', 'owner', 'admin', 'viewer']) await addMember(role)
  })

  test('each list has pages, in one order, with each item once', async () => {
    expect(LISTS.length).toBeGreaterThan(4)
    for (const { path } of LISTS) {
      const whole = (await call('GET', `/v1${path}?limit=100`)).body as Page
      expect([path, whole.items.length > 1, whole.nextCursor]).toEqual([path, true, null])
      const seen: object[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = (await call('GET', `/v1${path}?limit=1${cursor && `&cursor=${cursor}`}`)).body as Page
        seen.push(...page.items)
        cursor = page.nextCursor
      }
      expect([path, seen]).toEqual([path, whole.items])
    }
  })
})
