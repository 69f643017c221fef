/** Permissions in an account: every route, in every role, in one's own account and in another's. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import type { Permission } from '@/accounts/members/permissions'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'
import { dashboardRoutesOf, fillPath, nameOf, type Route } from './routes'

/** As it was decided, beside the table that the product goes by. */
const ALLOWED: Readonly<Record<Permission, string>> = {
  'usage.read': 'owner admin developer billing viewer',
  'usage.readAll': 'owner admin billing viewer',
  'keys.use': 'owner admin developer',
  'keys.switchOff': 'owner admin developer billing viewer',
  'keys.change': 'owner admin developer billing',
  'limits.raise': 'owner admin',
  'budgets.change': 'owner admin billing',
  'billing.read': 'owner admin billing viewer',
  'billing.pay': 'owner billing',
  'credit.move': 'owner',
  'managementKeys.change': 'owner admin',
  'audit.read': 'owner admin',
  'alerts.change': 'owner billing',
  'members.read': 'owner admin developer billing viewer',
  'members.change': 'owner admin',
  'account.change': 'owner',
}

let gateway: TestGateway
let people: Record<AccountRole, Person>
let stranger: Person
let accountId: string
let routes: Route[]

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  const [owner, stranger_, ...others] = await Promise.all(
    ['Owner', 'Stranger', 'Admin', 'Developer', 'Billing', 'Viewer'].map((name) => signUpPerson(gateway, { name })),
  )
  people = Object.fromEntries(
    [owner, ...others].map((person, index) => [ACCOUNT_ROLES[index], person]),
  ) as typeof people
  stranger = stranger_ as Person
  accountId = people.owner.viewer.accountId
  for (const role of ACCOUNT_ROLES.slice(1)) {
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${people[role].viewer.userId}, ${role})`
  }
  routes = dashboardRoutesOf(gateway).filter(({ path }) => path.startsWith(ACCOUNT_PREFIX))
})
afterAll(() => gateway.stop())

/** A request for a model that is not sold. Returns its id once it is in the list. */
async function failWith(key: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'svc/none', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(404)
  await gateway.gateway.deps.failures.flush()
  return response.headers.get('x-request-id') ?? ''
}

/** The status, and whether it was said that there is no such account. */
async function call(person: Person, { method, path }: Route): Promise<{ status: number; isForeign: boolean }> {
  const body = method !== 'GET' && method !== 'DELETE'
  const response = await person.fetch(fillPath(path, { accountId }), {
    method,
    ...(body && { body: '{}', headers: { 'content-type': 'application/json' } }),
  })
  if (response.status !== 404) {
    await response.body?.cancel()
    return { status: response.status, isForeign: false }
  }
  return { status: 404, isForeign: (await response.text()).includes('There is no such account.') }
}

/** The routes that answer somebody of this role otherwise than the table says. */
async function wrongAnswersTo(role: AccountRole): Promise<unknown[]> {
  const wrong: unknown[] = []
  for (const route of routes) {
    const isAllowed = route.may !== undefined && ALLOWED[route.may].split(' ').includes(role)
    const { status, isForeign } = await call(people[role], route)
    const isRefused = status === 401 || status === 403 || status === 429 || isForeign
    if (isAllowed ? isRefused : status !== 403) wrong.push({ route: nameOf(route), status, isForeign })
  }
  return wrong
}

async function letDevelopersSeeAll(developersSeeAllUsage: boolean): Promise<void> {
  const path = `/dashboard/api/a/${accountId}/member-policy`
  const { body } = await people.admin.json('PUT', path, { developersSeeAllUsage })
  expect(body).toEqual({ developersSeeAllUsage })
}

describe('every route of an account', () => {
  test('every route of an account names its permission, and no other route does', () => {
    expect(routes.length).toBeGreaterThan(25)
    expect(routes.filter(({ may }) => may === undefined).map(nameOf)).toEqual([])
    const others = dashboardRoutesOf(gateway).filter(({ path }) => !path.startsWith(ACCOUNT_PREFIX))
    expect(others.filter(({ may }) => may !== undefined).map(nameOf)).toEqual([])
  })

  test.each(ACCOUNT_ROLES)('%s may do what the table of permissions allows, and otherwise gets a 403', async (role) => {
    expect(await wrongAnswersTo(role)).toEqual([])
  })

  test('developers who may see all usage otherwise have the permissions of developers', async () => {
    await letDevelopersSeeAll(true)
    const wrong = await wrongAnswersTo('developer')
    await letDevelopersSeeAll(false)
    expect(wrong).toEqual([])
  })

  test('people outside an account get a 404 from each of its routes', async () => {
    const wrong: unknown[] = []
    for (const route of routes) {
      const { status, isForeign } = await call(stranger, route)
      if (status !== 404 || !isForeign) wrong.push({ route: nameOf(route), status })
    }
    expect(wrong).toEqual([])
  })

  test('every route of an account refuses a removed member from the next request on', async () => {
    const gone = await signUpPerson(gateway)
    const { sql } = gateway.gateway.database
    const { userId } = gone.viewer
    await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'admin')`
    const keys = () => gone.json('GET', `/dashboard/api/a/${accountId}/keys`)
    expect((await keys()).status).toBe(200)
    await sql`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`
    expect((await keys()).status).toBe(404)
  })
})

test.each(['%00', 'a%2Fb', '..%2f', 'acct_1%27', 'x'.repeat(300)])('no account can have the id %s', async (name) => {
  const { status } = await people.owner.json('GET', `/dashboard/api/a/${name}/keys`)
  expect([400, 404]).toContain(status)
})

describe('a developer', () => {
  type Created = { key: string; item: { id: string } }
  const at = (path: string) => `/dashboard/api/a/${accountId}/${path}`
  let theirs: Created
  let others: Created

  beforeAll(async () => {
    await addCredit(gateway, accountId, '5')
    const make = async (role: AccountRole, body: object) =>
      (await people[role].json('POST', at('keys'), body)).body as Created
    theirs = await make('developer', { name: 'theirs', monthlyBudgetUsd: '5', requestsPerMinute: 10 })
    others = await make('admin', { name: 'others' })
  })

  test('a developer sees and changes their own keys only', async () => {
    const { developer } = people
    const { body } = await developer.json('GET', at('keys'))
    expect((body as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual([theirs.item.id])
    for (const [method, path, sent] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'mine' }],
      ['POST', '/deactivate', {}],
      ['POST', '/activate', {}],
      ['DELETE', '', undefined],
    ] as const) {
      expect((await developer.json(method, at(`keys/${others.item.id}${path}`), sent)).status).toBe(404)
    }
    expect((await developer.json('PATCH', at(`keys/${theirs.item.id}`), { name: 'renamed' })).status).toBe(200)
  })

  test.each([
    [{ monthlyBudgetUsd: '5.01' }, 'monthlyBudgetUsd'],
    [{ monthlyBudgetUsd: null }, 'monthlyBudgetUsd'],
    [{ requestsPerMinute: 11 }, 'requestsPerMinute'],
    [{ requestsPerMinute: null }, 'requestsPerMinute'],
  ])('a developer cannot raise a limit: %j', async (change, param) => {
    const answer = await people.developer.json('PATCH', at(`keys/${theirs.item.id}`), change)
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'not_permitted', param } } })
  })

  test('a developer may lower limits, and cannot raise them again', async () => {
    const patch = (person: Person, change: object) => person.json('PATCH', at(`keys/${theirs.item.id}`), change)
    expect((await patch(people.developer, { monthlyBudgetUsd: '3', allowedModels: ['svc/alpha'] })).status).toBe(200)
    expect((await patch(people.developer, { monthlyBudgetUsd: '5' })).status).toBe(403)
    expect((await patch(people.developer, { allowedModels: null })).status).toBe(403)
    expect((await patch(people.developer, { allowedProviders: ['provider1'] })).status).toBe(200)
    expect((await patch(people.developer, { allowedProviders: null })).status).toBe(403)
    for (const [rule, isRule] of [
      ['zeroRetention', true],
      ['noTraining', true],
      ['regions', ['eu']],
    ] as const) {
      expect((await patch(people.developer, { [rule]: isRule })).status).toBe(200)
      const without = Array.isArray(isRule) ? null : false
      expect((await patch(people.developer, { [rule]: without })).status).toBe(403)
      expect((await patch(people.admin, { [rule]: without })).status).toBe(200)
    }
    expect((await patch(people.admin, { monthlyBudgetUsd: '5', allowedModels: null })).status).toBe(200)
    const [entry] = await gateway.gateway.database.sql`SELECT actor_id FROM audit_entries
      WHERE action = 'key.change' AND subject = ${theirs.item.id} ORDER BY seq DESC LIMIT 1`
    expect(entry?.actor_id).toBe(people.admin.viewer.userId)
  })

  test('a developer’s key cannot be allowed more than a key without rules', async () => {
    const { body } = await people.developer.json('GET', at('keys'))
    const requestsPerMinute = (body as { defaults: { requestsPerMinute: number } }).defaults.requestsPerMinute + 1
    await gateway.gateway.database
      .sql`UPDATE accounts SET requests_per_minute = ${10 * requestsPerMinute} WHERE id = ${accountId}`
    const wide = { name: 'wide', requestsPerMinute }
    expect(await people.developer.json('POST', at('keys'), wide)).toMatchObject({ status: 403 })
    expect(await people.admin.json('POST', at('keys'), wide)).toMatchObject({ status: 200 })
  })

  test('a developer sees their own usage and failures', async () => {
    const [own, foreign] = [await ask(gateway, theirs.key), await ask(gateway, others.key)]
    await flushed(gateway, accountId)
    const idsOf = async (role: AccountRole) => {
      const { body } = await people[role].json('GET', at('usage'))
      return (body as { items: { requestId: string }[] }).items.map(({ requestId }) => requestId)
    }
    expect(await idsOf('developer')).toEqual([own])
    expect((await idsOf('viewer')).toSorted()).toEqual([own, foreign].toSorted())
    const { developer } = people
    expect((await developer.json('GET', at(`usage/requests/${own}`))).status).toBe(200)
    expect((await developer.json('GET', at(`usage/requests/${foreign}`))).status).toBe(404)
    expect((await developer.json('GET', at(`usage?key=${others.item.id}`))).body).toMatchObject({ items: [] })
    expect((await developer.json('GET', at('usage/totals'))).body).toMatchObject({ requests: 1 })
    expect(JSON.stringify((await developer.json('GET', at('usage/series?group=key'))).body)).not.toContain(
      others.item.id,
    )
    expect(JSON.stringify((await developer.json('GET', at('usage/choices'))).body)).not.toContain(others.item.id)
    expect(await (await developer.fetch(at('usage/export'))).text()).not.toContain(others.item.id)
  })

  test('if the account allows it, a developer sees all usage and failures, but no balance and no other keys', async () => {
    const { developer } = people
    const foreign = await ask(gateway, others.key)
    const failed = await failWith(others.key)
    await flushed(gateway, accountId)
    const reported = async () => {
      const headers = { authorization: `Bearer ${theirs.key}` }
      return await (await fetch(`${gateway.url}/v1/usage/report?group_by=key`, { headers })).text()
    }
    const textOf = async (path: string) => await (await developer.fetch(at(path))).text()
    const PLACES = ['usage', 'usage/series?group=key', 'usage/choices', 'usage/export', 'failures'] as const
    const seen = async () => (await Promise.all([...PLACES.map(textOf), reported()])).map((text) => sees(text))
    const sees = (text: string) => text.includes(others.item.id) || text.includes(foreign) || text.includes(failed)
    const pages = async () =>
      Promise.all(
        [`usage/requests/${foreign}`, `failures/${failed}`].map(
          async (path) => (await developer.fetch(at(path))).status,
        ),
      )
    expect([await seen(), await pages()]).toEqual([Array(6).fill(false), [404, 404]])
    await letDevelopersSeeAll(true)
    expect([await seen(), await pages()]).toEqual([Array(6).fill(true), [200, 200]])
    const totals = async (person: Person) => (await person.json('GET', at('usage/totals'))).body
    expect(await totals(developer)).toEqual(await totals(people.viewer))
    expect((await developer.json('GET', at(`keys/${others.item.id}`))).status).toBe(404)
    expect(JSON.stringify((await developer.json('GET', at('keys'))).body)).not.toContain(others.item.id)
    expect(JSON.stringify((await developer.json('GET', at('budgets'))).body)).not.toContain(others.item.id)
    for (const path of ['overview', 'orders', 'statement', 'events']) {
      expect((await developer.fetch(at(path))).status).toBe(403)
    }
    await letDevelopersSeeAll(false)
    expect([await seen(), await pages()]).toEqual([Array(6).fill(false), [404, 404]])
  })

  test('a developer cannot change who sees usage, and each change is audited', async () => {
    const changes = async () =>
      await gateway.gateway.database.sql`SELECT actor_id, details FROM audit_entries
      WHERE action = 'account.member_policy' AND account_id = ${accountId} ORDER BY seq`
    const before = await changes()
    expect(before.at(-1)).toEqual({
      actor_id: people.admin.viewer.userId,
      details: { developersSeeAllUsage: false, 'before.developersSeeAllUsage': true },
    })
    const asked = await people.developer.json('PUT', at('member-policy'), { developersSeeAllUsage: true })
    expect(asked).toMatchObject({ status: 403, body: { error: { code: 'not_permitted' } } })
    // What it is already is no change.
    await letDevelopersSeeAll(false)
    expect(await changes()).toEqual(before)
  })
})

test('the billing role changes budgets of keys, but no other field of a key', async () => {
  const { body } = await people.admin.json('POST', `/dashboard/api/a/${accountId}/keys`, { name: 'robot' })
  const path = `/dashboard/api/a/${accountId}/keys/${(body as { item: { id: string } }).item.id}`
  expect((await people.billing.json('PATCH', path, { monthlyBudgetUsd: '100' })).status).toBe(200)
  for (const change of [{ name: 'mine' }, { requestsPerMinute: 1 }, { monthlyBudgetUsd: '1', expiresAt: null }]) {
    expect(await people.billing.json('PATCH', path, change)).toMatchObject({ status: 403 })
  }
})
