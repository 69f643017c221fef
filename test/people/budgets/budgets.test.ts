/**
 * The routes of budgets: a set budget applies at the next request, an invalid one is refused with its field, and
 * nobody sees another's figures.
 */
import { afterAll, beforeAll, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import type { AccountRole } from '@/db/auth-schema'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

type Team = { owner: Person; developer: Person; billing: Person; accountId: string; base: string }

async function team(): Promise<Team> {
  const [owner, developer, billing] = (await Promise.all(
    ['Ada', 'Charles', 'Grace'].map((name) => signUpPerson(gateway, { name })),
  )) as [Person, Person, Person]
  const { accountId } = owner.viewer
  await addCredit(gateway, accountId, '10')
  const roles: [Person, AccountRole][] = [
    [developer, 'developer'],
    [billing, 'billing'],
  ]
  for (const [person, role] of roles) {
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${person.viewer.userId}, ${role})`
  }
  return { owner, developer, billing, accountId, base: `/dashboard/api/a/${accountId}` }
}

async function newKey(person: Person, { base }: Team): Promise<{ id: string; key: string }> {
  const { body } = await person.json('POST', `${base}/keys`, { name: `of ${person.viewer.userId}` })
  const created = body as { key: string; item: { id: string } }
  return { key: created.key, id: created.item.id }
}

const memberPath = ({ base }: Team, { viewer }: Person) => `${base}/budgets/member/${viewer.userId}`

function refusal({ status, body }: JsonAnswer): string {
  const { error } = body as { error: { code: string | null; param: string | null } }
  return [status, error.code, error.param].filter((part) => part != null).join(' ')
}

test('the billing role gives a member a budget, which counts earlier spending and applies at once', async () => {
  const all = await team()
  const { billing, developer } = all
  const { key } = await newKey(developer, all)
  await ask(gateway, key, { max_tokens: 300 })
  await flushed(gateway, all.accountId)
  const path = memberPath(all, developer)
  const before = (await billing.json('GET', path)).body as { windows: { spentUsd: string; limitUsd: string | null }[] }
  expect(before.windows).toHaveLength(4)
  expect(before.windows.every(({ spentUsd, limitUsd }) => Number(spentUsd) > 0 && limitUsd === null)).toBe(true)
  const set = await billing.json('PUT', path, { dayUsd: '0', monthUsd: '5' })
  expect(set).toMatchObject({ status: 200, body: { scope: 'member', name: 'Charles' } })
  expect((set.body as typeof before).windows[0]).toMatchObject({ limitUsd: '0', spentUsd: before.windows[0]?.spentUsd })
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 300, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect([answer.status, await answer.json()]).toMatchObject([
    402,
    { error: { code: 'budget_exceeded', scope: 'member' } },
  ])
  expect((await billing.json('POST', `${path}/grant`, { window: 'day', usd: '2.5' })).body).toMatchObject({
    windows: [{ window: 'day', limitUsd: '0', grantedUsd: '2.5' }, {}, {}, {}],
  })
  await ask(gateway, key, { max_tokens: 300 })
})

test('a key shows its budgets; a developer’s key shows no figures of the account', async () => {
  const all = await team()
  const { owner, developer, base, accountId } = all
  const { id } = await newKey(developer, all)
  const budgetsFor = async (person: Person) =>
    ((await person.json('GET', `${base}/keys/${id}`)).body as { budgets: object[] }).budgets
  expect(await budgetsFor(owner)).toEqual([])
  await owner.json('PUT', memberPath(all, developer), { dayUsd: '3' })
  await owner.json('PUT', `${base}/budgets/account/${accountId}`, { totalUsd: '2' })
  const figures = { limitUsd: '2', spentUsd: '0', heldUsd: '0', leftUsd: '2' }
  const own = { scope: 'member', window: 'day', limitUsd: '3', leftUsd: '3', resetsAt: expect.any(String) }
  const ofAccount = { scope: 'account', window: 'total', resetsAt: null }
  expect(await budgetsFor(owner)).toMatchObject([{ ...ofAccount, ...figures }, own])
  const unsaid = { limitUsd: null, spentUsd: null, heldUsd: null, leftUsd: null }
  expect(await budgetsFor(developer)).toMatchObject([{ ...ofAccount, ...unsaid }, own])
})

test('an invalid budget is refused with its field, and nothing changes', async () => {
  const all = await team()
  const { owner, accountId, base } = all
  const path = `${base}/budgets/account/${accountId}`
  for (const dayUsd of ['NaN', 'Infinity', '-1', '0.0000000001', '1e3', '', '99999999999'])
    expect(refusal(await owner.json('PUT', path, { dayUsd }))).toBe('400 dayUsd')
  expect(refusal(await owner.json('PUT', path, { dayUsd: '2', weekUsd: '1' }))).toBe('400 dayUsd')
  expect(refusal(await owner.json('POST', `${path}/grant`, { window: 'day', usd: '0' }))).toBe('400 usd')
  expect(refusal(await owner.json('POST', `${path}/grant`, { window: 'day', usd: '1' }))).toBe('400 window')
  const { id } = await newKey(owner, all)
  expect(refusal(await owner.json('PUT', `${base}/budgets/key/${id}`, { monthUsd: '1' }))).toBe('400 monthUsd')
  expect(refusal(await owner.json('PUT', `${base}/budgets/member/nobody_here`, { dayUsd: '1' }))).toBe(
    '404 budget_not_found',
  )
  const { items } = (await owner.json('GET', `${base}/budgets`)).body as { items: { windows: unknown[] }[] }
  expect(items.flatMap(({ windows }) => windows)).toEqual([])
})

test('developers see their own budgets and cannot change them; changes are audited', async () => {
  const all = await team()
  const { owner, developer, accountId, base } = all
  const [own, other] = [await newKey(developer, all), await newKey(owner, all)]
  const paths = [`account/${accountId}`, `member/${developer.viewer.userId}`, `member/${owner.viewer.userId}`]
  for (const path of [...paths, `key/${own.id}`, `key/${other.id}`, `new_member/${accountId}`])
    expect((await owner.json('PUT', `${base}/budgets/${path}`, { totalUsd: '3' })).status).toBe(200)
  const seen = async (person: Person) => {
    const { items } = (await person.json('GET', `${base}/budgets`)).body as {
      items: { scope: string; scopeId: string; windows: object[] }[]
    }
    return items
      .filter(({ windows }) => windows.length > 0)
      .map(({ scope, scopeId }) => `${scope}/${scopeId}`)
      .toSorted()
  }
  expect(await seen(developer)).toEqual([`key/${own.id}`, `member/${developer.viewer.userId}`])
  expect(await seen(owner)).toHaveLength(6)
  expect(refusal(await developer.json('GET', `${base}/budgets/account/${accountId}`))).toBe('404 budget_not_found')
  expect(refusal(await developer.json('PUT', memberPath(all, developer), { totalUsd: null }))).toBe('403 not_permitted')
  const rows = await gateway.gateway.database.sql`SELECT actor_email, details FROM audit_entries
    WHERE account_id = ${accountId} AND action = 'budget.change'`
  expect(rows).toHaveLength(6)
  expect(rows[0]).toMatchObject({
    actor_email: owner.viewer.email,
    details: { totalUsd: '3', 'before.totalUsd': null },
  })
})
