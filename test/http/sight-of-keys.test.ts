/** What keys show of their account: every route under `/v1`, with a key of each role and a management key of each scope. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BEHIND_A_PROXY, makeManagementKey, send } from '@test/console/http/management/caller'
import { fillPath } from '@test/console/http/routes'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, flushed } from '@test/usage/customer'
import { SCOPES, type Scope } from '@/accounts/management/scopes'
import { mayDo, type Permission } from '@/accounts/members/permissions'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'

/** What nobody else's request has: its tokens, its tag and its app. */
const OF_OTHERS = { 'its tokens': /123457/, 'its tag': /canary-team/, 'its app': /Canary App/ }
/** The balance, whatever the requests of this file cost. */
const BALANCE = { 'the balance': /77\.[5-9]/ }
const BUDGET = { 'the budget': /61\.25/ }

type Secret = { may: Permission; scope: Scope; marks: Readonly<Record<string, RegExp>> }
const SECRETS: readonly Secret[] = [
  { may: 'billing.read', scope: 'billing:read', marks: BALANCE },
  { may: 'usage.readAll', scope: 'usage:read', marks: OF_OTHERS },
]

let gateway: TestGateway
let owner: Person
let accountId: string
let keys: Record<AccountRole, string>
let foreign: { keyId: string; requestId: string }

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello', usageOf(123_457, 13))),
    environment: BEHIND_A_PROXY,
  })
  owner = await signUpPerson(gateway, { name: 'Owner' })
  accountId = owner.viewer.accountId
  await addCredit(gateway, accountId, '78')
  const made: [AccountRole, string][] = []
  for (const role of ACCOUNT_ROLES) {
    const { userId } = role === 'owner' ? owner.viewer : await join(role)
    made.push([role, (await newKey(userId, role)).key])
  }
  keys = Object.fromEntries(made) as typeof keys
  const other = await newKey((await join('developer')).userId)
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${other.key}`, 'content-type': 'application/json' },
      ...{ 'x-svc-tags': 'team=canary-team', 'x-title': 'Canary App' },
    },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'x'.repeat(500_000) }] }),
  })
  expect(answer.status).toBe(200)
  foreign = { keyId: other.keyId, requestId: answer.headers.get('x-request-id') ?? '' }
  await flushed(gateway, accountId)
})
afterAll(() => gateway.stop())

async function join(role: AccountRole): Promise<{ userId: string }> {
  const { userId } = (await signUpPerson(gateway)).viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${userId}, ${role})`
  return { userId }
}

/** Made while their role allowed it, and kept. */
async function newKey(createdBy: string, role?: AccountRole): Promise<{ key: string; keyId: string }> {
  const become = async (one: AccountRole) =>
    await gateway.gateway.database.sql`UPDATE memberships SET role = ${one}
      WHERE account_id = ${accountId} AND user_id = ${createdBy}`
  if (role) await become('owner')
  const created = await gateway.apiKeys.create({ accountId, name: 'key', createdBy })
  if (created.kind !== 'created') throw new Error(created.kind)
  if (role) await become(role)
  return created
}

const QUERIES = ['', '?group_by=day,key,tag&limit=100', '?group_by=app']

/** Every route under `/v1`, with and without what it is asked to sort by. */
function questions(): { method: string; path: string }[] {
  const routes = gateway.gateway.app.routes.filter(
    ({ method, path }) => path.startsWith('/v1/') && method !== 'OPTIONS' && method !== 'HEAD',
  )
  return routes.flatMap(({ method, path }) => {
    const filled = fillPath(path.replace('*', 'x').replace(/(?<=.)\/$/, ''), {
      ...{ id: foreign.keyId, requestId: foreign.requestId, scope: 'key', scopeId: foreign.keyId },
    })
    const own = { method: method === 'ALL' ? 'POST' : method, path: filled }
    return own.method === 'GET'
      ? [...QUERIES, `?id=${foreign.requestId}`].map((query) => ({ ...own, path: filled + query }))
      : [own]
  })
}

const MARKS = { ...OF_OTHERS, ...BALANCE, ...BUDGET }

/** What each answer to this key told of the marks, by route. */
async function toldTo(key: string, isRead: boolean): Promise<string[]> {
  const told: string[] = []
  for (const { method, path } of questions()) {
    if (isRead && method !== 'GET') continue
    const body = method === 'GET' || method === 'DELETE' ? undefined : { request_id: 'none', rating: 'up' }
    const answer = await send(gateway, key, method, path, body)
    expect([method, path, answer.status === 500]).toEqual([method, path, false])
    const text = JSON.stringify(answer.body)
    for (const [what, mark] of Object.entries(MARKS)) if (mark.test(text)) told.push(`${what} by ${method} ${path}`)
  }
  return told
}

test('the requests in this test cover all routes under /v1', () => {
  expect(questions().length).toBeGreaterThan(60)
})

describe.each(ACCOUNT_ROLES)('a key of a member who is %s', (role) => {
  test('a member’s key shows only the figures that the role may see', async () => {
    const told = await toldTo(keys[role], false)
    for (const { may, marks } of SECRETS) {
      const ofIt = Object.keys(marks).map((what) => told.filter((one) => one.startsWith(what)))
      if (mayDo(role, may)) expect([may, ofIt.every((some) => some.length > 0)]).toEqual([may, true])
      else expect(ofIt.flat()).toEqual([])
    }
  })

  test('a member’s key may rate a request of another key only if the role may see that request', async () => {
    const rated = { request_id: foreign.requestId, rating: 'up' }
    const { status } = await send(gateway, keys[role], 'POST', '/v1/feedback', rated)
    expect(status).toBe(mayDo(role, 'usage.readAll') ? 200 : 404)
  })
})

test('a developer’s key shows its own requests, and all requests if the account lets developers see all', async () => {
  const usage = async () => (await send(gateway, keys.developer, 'GET', '/v1/usage')).body
  const untold = { credits_remaining: null, credits_used: null, usage_this_month: null }
  expect(await usage()).toMatchObject({ ...untold, customer: { credits: null }, recentUsage: [] })
  await owner.json('PUT', '/dashboard/api/a/:accountId/member-policy', { developersSeeAllUsage: true })
  expect(await usage()).toMatchObject({ ...untold, recentUsage: [{ inputTokens: 123_457 }] })
  await owner.json('PUT', '/dashboard/api/a/:accountId/member-policy', { developersSeeAllUsage: false })
  const headers = { authorization: `Bearer ${keys.developer}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'x'.repeat(500_000) }] })
  expect((await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200)
  await flushed(gateway, accountId)
  expect(await usage()).toMatchObject({ ...untold, recentUsage: [{ inputTokens: 123_457 }] })
  expect((await usage()) as { recentUsage: unknown[] }).toHaveProperty('recentUsage.length', 1)
})

test('the key of a former member shows no figures; a service key of the account shows all', async () => {
  const { sql } = gateway.gateway.database
  const { userId } = await join('viewer')
  const { key } = await newKey(userId, 'viewer')
  const usage = async (of: string) => (await send(gateway, of, 'GET', '/v1/usage')).body
  expect(await usage(key)).toMatchObject({ credits_remaining: expect.any(Number) })
  await sql`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`
  expect(await usage(key)).toMatchObject({ credits_remaining: null, recentUsage: [] })
  const created = await gateway.apiKeys.create({ accountId, name: 'service' })
  if (created.kind !== 'created') throw new Error(created.kind)
  expect(await usage(created.key)).toMatchObject({ credits_remaining: expect.any(Number) })
})

/** Requests that cost more than an account of 0.0000777 USD has, by each way to pay, small and large. */
async function refusalsFor(role: AccountRole): Promise<string[]> {
  const { accountId: poor } = await gateway.customer('0.0000777')
  const person = await signUpPerson(gateway)
  const { sql } = gateway.gateway.database
  await sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${poor}, ${owner.viewer.userId}, 'owner'), (${poor}, ${person.viewer.userId}, 'owner')`
  const created = await gateway.apiKeys.create({ accountId: poor, name: 'key', createdBy: person.viewer.userId })
  if (created.kind !== 'created') throw new Error(created.kind)
  await sql`UPDATE memberships SET role = ${role} WHERE account_id = ${poor} AND user_id = ${person.viewer.userId}`
  const messages = [{ role: 'user', content: 'x'.repeat(20_000) }]
  const large = [{ role: 'user', content: 'x'.repeat(400_000) }]
  const chat = { model: 'svc/alpha', messages, max_tokens: 1_000 }
  const bodies: [path: string, body: object][] = [
    ['/v1/chat/completions', chat],
    ['/v1/chat/completions', { ...chat, stream: true }],
    ['/v1/chat/completions', { ...chat, messages: large }],
    ['/v1/messages', chat],
    ['/v1/responses', { model: 'svc/alpha', input: messages }],
    [
      '/v1beta/models/svc/alpha:generateContent',
      { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(20_000) }] }] },
    ],
  ]
  const told: string[] = []
  for (const [path, body] of bodies) {
    const headers = { authorization: `Bearer ${created.key}`, 'content-type': 'application/json' }
    const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    told.push(`${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`)
  }
  const playground = await person.fetch(`/dashboard/api/a/${poor}/playground/chat`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(chat) },
  })
  if (mayDo(role, 'keys.use')) told.push(`playground ${playground.status} ${await playground.text()}`)
  return told
}

test.each(ACCOUNT_ROLES)(
  'a refusal for lack of credit shows figures to a member who is %s only if they may see the balance',
  async (role) => {
    const refusals = await refusalsFor(role)
    const isRefused = refusals.map((text) => / 402 /.test(text))
    expect([refusals, isRefused.includes(false)]).toEqual([refusals, false])
    const figure = /0\.0000777|7\.77e-5|availableUsd|heldUsd/
    const told = refusals.filter((text) => figure.test(text))
    expect(told).toEqual(mayDo(role, 'billing.read') ? refusals : [])
  },
)

describe.each(SCOPES)('a management key with %s', (scope) => {
  test('a management key shows only the figures of its scope', async () => {
    await owner.json('PUT', `/dashboard/api/a/:accountId/budgets/account/${accountId}`, { dayUsd: '61.25' })
    const { key } = await makeManagementKey(owner, [scope])
    const all = await toldTo(key, true)
    const toldOf = (marks: object) => all.filter((one) => Object.keys(marks).some((what) => one.startsWith(what)))
    // The audit log has the change of the budget itself.
    const budget = toldOf(BUDGET).filter((one) => !one.includes('/v1/audit'))
    expect(budget.length > 0).toBe(scope.startsWith('budgets:'))
    for (const { scope: needed, marks } of SECRETS) {
      // Who reads a key reads what it has used.
      const told = toldOf(marks).filter(
        (one) => !(scope.startsWith('keys:') && one.includes(`/v1/keys/${foreign.keyId}`)),
      )
      if (scope !== needed) expect(told).toEqual([])
      else if (needed === 'usage:read') expect(told.some((one) => one.startsWith('its tag'))).toBe(true)
    }
  })
})
