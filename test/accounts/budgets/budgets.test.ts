/** Budgets in the history: which ones may be set, what the audit log has, and that the ledger is restored from them exactly. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { test } from '@test/ledger/accounts/within-day'
import { request, settlement } from '@test/ledger/harness'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { OPERATOR } from '@/accounts/audit'
import { createBudgets } from '@/accounts/budgets/budgets'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import { recordsName, shardOf } from '@/ledger/store/names'
import { parseUsageRecord } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { nano, ZERO_NANO } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

let server: TestServer
let fixture: Fixture

beforeAll(async () => {
  server = await startRedis()
  fixture = await openFixture(server.url, await freshDatabase())
})
afterAll(async () => {
  await fixture.close()
  await server.stop()
})

/** An organisation of an owner and a developer, each with a key, and a key that is nobody's. */
async function team() {
  const { accounts, apiKeys, credits, database } = fixture
  const { sql } = database
  const email = `${randomId('mail')}@example.test`
  const made = await accounts.create({ email, name: 'Team' })
  const accountId = made.kind === 'created' ? made.accountId : ''
  await credits.addCredit({ accountId, amount: nano(1_000_000), reference: 'start' })
  const people = [randomId('user'), randomId('user')] as const
  for (const [index, id] of people.entries()) {
    await sql`INSERT INTO users (id, name, email) VALUES (${id}, ${id}, ${`${id.toLowerCase()}@example.test`})`
    await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${id}, ${index === 0 ? 'owner' : 'developer'})`
  }
  const keyOf = async (createdBy?: string) => {
    const created = await apiKeys.create({ accountId, name: 'Key', ...(createdBy !== undefined && { createdBy }) })
    return { accountId, keyId: created.kind === 'created' ? created.keyId : '' }
  }
  const [owner, developer, service] = [await keyOf(people[0]), await keyOf(people[1]), await keyOf()]
  return { accountId, people, owner, developer, service }
}

type Team = Awaited<ReturnType<typeof team>>

async function spend(payer: Team['owner'], cost: number): Promise<void> {
  const hold = request(payer, cost)
  expect((await fixture.ledger.reserve(hold)).kind).toBe('reserved')
  await fixture.ledger.settle(settlement(hold, cost))
}

/** Books everything that is in the account's stream. */
async function book(accountId: string): Promise<void> {
  const entries = await fixture.redis.xrange(recordsName(shardOf(accountId)), '-', '+')
  const records = entries.flatMap(([, fields]) => parseUsageRecord(fields) ?? [])
  await writeUsageBatch(fixture.database.sql, records)
  await fixture.redis.del(recordsName(shardOf(accountId)))
}

const by = OPERATOR

test('the sums of account, members and keys are equal in ledger and history, also after the ledger is rebuilt', async () => {
  const { accountId, people, owner, developer, service } = await team()
  await spend(developer, 5)
  await book(accountId)
  await spend(developer, 6)
  const { database, ledger, redis, history } = fixture
  const set = (scope: 'account' | 'member' | 'key', scopeId: string, limits: object) =>
    createBudgets(database, ledger).change({ accountId, scope, scopeId, limits, by })
  await set('account', accountId, { day: nano(1_000), total: nano(5_000) })
  await set('member', people[1], { week: nano(500), month: nano(600) })
  await set('key', service.keyId, { day: nano(70) })
  await spend(developer, 7)
  await spend(owner, 30)
  await spend(service, 50)
  const entries = async () => (await ledger.readBudgets(accountId))?.entries
  const before = await entries()
  const spentOf = (field: string) => Object.values(before?.get(field)?.windows ?? {}).map(({ spent }) => spent)
  expect(spentOf('account')).toEqual([98, 98, 98, 98])
  expect(spentOf(`member:${people[1]}`)).toEqual([18, 18, 18, 18])
  expect(spentOf(`key:${service.keyId}`)).toEqual([50, 50, 50, 50])
  expect(await ledger.reserve(request(service, 21))).toMatchObject({ kind: 'over_budget', scope: 'key', window: 'day' })
  await book(accountId)
  const check = () => checkLedger({ redis, history, logger: silentLogger })
  expect((await check()).violations).toEqual([])
  await rebuildAll({ redis, history, logger: silentLogger })
  expect(await entries()).toEqual(before)
  await redis.flushall()
  expect(await entries()).toEqual(before)
  const rows = await database.sql`SELECT member_id, sum(cost_nano)::int AS cost FROM usage_records
    WHERE account_id = ${accountId} GROUP BY member_id ORDER BY cost`
  expect(rows.map(({ member_id, cost }) => [member_id, cost])).toEqual([
    [people[1], 18],
    [people[0], 30],
    [null, 50],
  ])
  const days = await database.sql`SELECT requests::int AS requests, cost_nano::int AS cost FROM usage_daily_members
    WHERE account_id = ${accountId} AND member_id = ${people[1]}`
  expect([...days]).toEqual([{ requests: 3, cost: 18 }])
})

test('a budget above the budget of a longer window is refused, whichever of the two is set last', async () => {
  const { accountId, service } = await team()
  const { database, ledger, apiKeys } = fixture
  const set = (limits: object) =>
    createBudgets(database, ledger).change({ accountId, scope: 'account', scopeId: accountId, limits, by })
  expect(await set({ week: nano(50), day: nano(51) })).toEqual({ kind: 'above_larger', smaller: 'day', larger: 'week' })
  expect(await set({ week: nano(50) })).toEqual({ kind: 'updated' })
  expect(await set({ total: nano(49) })).toEqual({ kind: 'above_larger', smaller: 'week', larger: 'total' })
  expect(await set({ week: null, total: nano(49) })).toEqual({ kind: 'updated' })
  await apiKeys.change(service.keyId, { monthlyBudget: nano(10) })
  const key = { accountId, scope: 'key', scopeId: service.keyId, by } as const
  const refused = await createBudgets(database, ledger).change({ ...key, limits: { day: nano(11) } })
  expect(refused).toEqual({ kind: 'above_larger', smaller: 'day', larger: 'month' })
  expect(
    (await createBudgets(database, ledger).list(accountId)).map(({ scope, limits }) => [scope, Object.keys(limits)]),
  ).toEqual([['account', ['total']]])
})

test('an account cannot set budgets of other accounts’ members and keys', async () => {
  const [own, other] = [await team(), await team()]
  const { database, ledger } = fixture
  for (const [scope, scopeId] of [
    ['member', other.people[0]],
    ['key', other.service.keyId],
    ['account', other.accountId],
  ] as const) {
    const change = { accountId: own.accountId, scope, scopeId, limits: { day: ZERO_NANO }, by }
    expect(await createBudgets(database, ledger).change(change)).toEqual({ kind: 'unknown' })
  }
})

test('each grant raises the budget of the current window, and has an entry in the audit log', async () => {
  const { accountId, developer, people } = await team()
  const { database, ledger } = fixture
  const of = { accountId, scope: 'member', scopeId: people[1], by } as const
  const grant = { ...of, window: 'day', amount: nano(50) } as const
  expect(await createBudgets(database, ledger).grant(grant, Date.now())).toEqual({ kind: 'no_limit' })
  await createBudgets(database, ledger).change({ ...of, limits: { day: nano(100) } })
  await createBudgets(database, ledger).grant(grant, Date.now())
  await createBudgets(database, ledger).grant(grant, Date.now())
  expect(await ledger.reserve(request(developer, 201))).toMatchObject({ kind: 'over_budget', limit: 200 })
  expect((await ledger.reserve(request(developer, 200))).kind).toBe('reserved')
  const entries =
    await database.sql`SELECT action, details FROM audit_entries WHERE account_id = ${accountId} AND action LIKE 'budget.%' ORDER BY seq`
  expect(entries.map(({ action }) => action)).toEqual(['budget.change', 'budget.grant', 'budget.grant'])
  expect(entries[2]?.details).toMatchObject({ scope: 'member', window: 'day', grantedUsd: '0.0000001' })
})

test('a new or returning member gets the default budget, and no key of theirs can spend more', async () => {
  const { accountId, owner } = await team()
  expect((await fixture.ledger.reserve(request(owner, 1))).kind).toBe('reserved')
  const { database, ledger, apiKeys } = fixture
  const limits = { day: nano(40), total: nano(400) }
  await createBudgets(database, ledger).change({ accountId, scope: 'new_member', scopeId: accountId, limits, by })
  expect(await ledger.readBudgets(accountId)).toMatchObject({ entries: new Map() })
  const userId = randomId('user')
  await database.sql`INSERT INTO users (id, name, email) VALUES (${userId}, 'New', ${`${userId.toLowerCase()}@example.test`})`
  await database.sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'developer')`
  const created = await apiKeys.create({ accountId, name: 'Key', createdBy: userId })
  const payer = { accountId, keyId: created.kind === 'created' ? created.keyId : '' }
  const refused = { kind: 'over_budget', scope: 'member', window: 'day' }
  expect(await ledger.reserve(request(payer, 41))).toMatchObject(refused)
  expect((await ledger.reserve(request(payer, 40))).kind).toBe('reserved')

  await createBudgets(database, ledger).change({
    ...{ accountId, scope: 'member', scopeId: userId },
    limits: { day: null, total: null },
    by,
  })
  await apiKeys.deactivate(payer.keyId)
  await database.sql`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`
  await database.sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'developer')`
  await apiKeys.activate(payer.keyId)
  expect(await ledger.reserve(request(payer, 1))).toMatchObject(refused)
})

test('if requested, the default budget is also given to existing members without a budget', async () => {
  const { accountId, people, owner, developer } = await team()
  const { database, ledger } = fixture
  const budgets = createBudgets(database, ledger)
  await budgets.change({ ...{ accountId, scope: 'member', scopeId: people[0] }, limits: { total: nano(900) }, by })
  const given = { accountId, scope: 'new_member', scopeId: accountId, by } as const
  await budgets.change({ ...given, limits: { day: nano(40) } })
  expect((await ledger.reserve(request(developer, 41))).kind).toBe('reserved')
  await budgets.change({ ...given, limits: { week: nano(50) }, isForMembersToo: true })
  expect(await ledger.reserve(request(developer, 1))).toMatchObject({ kind: 'over_budget', scope: 'member', limit: 40 })
  expect((await ledger.reserve(request(owner, 900))).kind).toBe('reserved')
  const [entry] =
    await database.sql`SELECT details FROM audit_entries WHERE account_id = ${accountId} ORDER BY seq DESC LIMIT 1`
  expect(entry?.details).toMatchObject({ scope: 'new_member', givenToMembers: 1 })
})

test('a key’s monthly budget is one of the key’s limits, and a grant does not raise it', async () => {
  const { accountId, service } = await team()
  await fixture.apiKeys.change(service.keyId, { monthlyBudget: nano(100) })
  const budgets = createBudgets(fixture.database, fixture.ledger)
  const of = { accountId, scope: 'key', scopeId: service.keyId, by } as const
  const grant = { ...of, window: 'month', amount: nano(50) } as const
  expect(await budgets.grant(grant, Date.now())).toEqual({ kind: 'no_limit' })
})
