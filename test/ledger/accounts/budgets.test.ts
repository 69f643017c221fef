/** Budgets of accounts, members and keys: checked and counted by the scripts, and restored from the history. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { type Bench, connect, createBench, passDeadline, request, settlement } from '@test/ledger/harness'
import { keyState } from '@test/ledger/memory-history'
import { startRedis, type TestServer } from '@test/support/stores'
import type { BudgetLimits, BudgetScope } from '@/ledger/budgets'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { Payer } from '@/ledger/outcomes'
import { budgetsName } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { test } from './within-day'

let server: TestServer
let redis: Awaited<ReturnType<typeof connect>>
let bench: Bench

beforeAll(async () => {
  server = await startRedis()
  redis = await connect(server.url)
  bench = createBench(redis)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

const limit = (usd: number) => ({ limit: nano(usd), grant: nano(0), grantAt: 0 })
const MEMBER = 'user_a'

/** A funded key of a member, with a second key of somebody else. */
async function team(credit = 1_000_000): Promise<{ payer: Payer; other: Payer }> {
  const payer = await bench.fund(credit)
  const other = { accountId: payer.accountId, keyId: `${payer.keyId}_b` }
  bench.history.setKey({ ...payer, ownerId: MEMBER })
  bench.history.setKey({ ...other, ownerId: 'user_b' })
  return { payer, other }
}

const scopeId = (scope: BudgetScope, { accountId, keyId }: Payer) =>
  ({ account: accountId, member: MEMBER, key: keyId })[scope]

async function setBudget(payer: Payer, scope: BudgetScope, limits: BudgetLimits): Promise<void> {
  bench.history.setBudgets(payer.accountId, [{ scope, scopeId: scopeId(scope, payer), limits }])
  await bench.ledger.reloadBudgets(payer.accountId)
}

async function spend(payer: Payer, cost: number, held = cost): Promise<void> {
  const hold = request(payer, held)
  expect((await bench.ledger.reserve(hold)).kind).toBe('reserved')
  expect((await bench.ledger.settle(settlement(hold, cost))).kind).toBe('settled')
}

async function entryOf(payer: Payer, field: string) {
  return (await bench.ledger.readBudgets(payer.accountId))?.entries.get(field)
}

async function violations() {
  return (await checkLedger({ redis, history: bench.history, logger: bench.logger })).violations
}

const CASES = (['account', 'member', 'key'] as const).flatMap((scope) =>
  (['day', 'week', 'month', 'total'] as const).map((window) => [scope, window] as const),
)

test.each(CASES)(
  'a budget of the %s by %s that covers ten requests accepts exactly ten of 1,000 parallel ones',
  async (scope, window) => {
    const { payer } = await team()
    await setBudget(payer, scope, { [window]: limit(1_000) })
    const holds = Array.from({ length: 1_000 }, () => request(payer, 100))
    const outcomes = await Promise.all(holds.map((hold) => bench.ledger.reserve(hold)))
    expect(outcomes.filter(({ kind }) => kind === 'reserved')).toHaveLength(10)
    const refused = outcomes.find(({ kind }) => kind !== 'reserved')
    expect(refused).toMatchObject({
      kind: 'over_budget',
      scope,
      window,
      limit: 1_000,
      held: 1_000,
      spent: 0,
      remaining: 0,
    })
    const open = holds.filter((_, index) => outcomes[index]?.kind === 'reserved')
    await Promise.all(open.map((hold) => bench.ledger.settle(settlement(hold, 40))))
    expect(await bench.ledger.reserve(request(payer, 601))).toMatchObject({ kind: 'over_budget', spent: 400, held: 0 })
    expect((await bench.ledger.reserve(request(payer, 600))).kind).toBe('reserved')
    expect(await violations()).toEqual([])
  },
)

test('the smallest budget of all scopes and windows refuses a reserve; a smaller request may use the remaining amount', async () => {
  const { payer, other } = await team()
  const { accountId } = payer
  bench.history.setBudgets(accountId, [
    { scope: 'account', scopeId: accountId, limits: { month: limit(900) } },
    { scope: 'member', scopeId: MEMBER, limits: { day: limit(500), week: limit(400) } },
    { scope: 'key', scopeId: payer.keyId, limits: { total: limit(450) } },
  ])
  await bench.ledger.reloadBudgets(accountId)
  expect(await bench.ledger.reserve(request(payer, 401))).toMatchObject({
    scope: 'member',
    window: 'week',
    remaining: 400,
  })
  await spend(other, 600)
  expect(await bench.ledger.reserve(request(payer, 301))).toMatchObject({
    scope: 'account',
    window: 'month',
    remaining: 300,
  })
  expect((await bench.ledger.reserve(request(payer, 300))).kind).toBe('reserved')
  expect(await violations()).toEqual([])
})

test('the refusal names a key’s own monthly budget if it leaves less than all other budgets', async () => {
  const { payer } = await team()
  bench.history.setKey({ ...payer, monthlyBudget: nano(100) })
  await setBudget(payer, 'member', { day: limit(200) })
  expect(await bench.ledger.reserve(request(payer, 150))).toMatchObject({ kind: 'budget_exceeded', remaining: 100 })
  await setBudget(payer, 'member', { day: limit(50) })
  expect(await bench.ledger.reserve(request(payer, 150))).toMatchObject({ kind: 'over_budget', remaining: 50 })
})

test('a budget of 0 refuses everything; raising or removing it takes effect at once', async () => {
  const { payer, other } = await team()
  await setBudget(payer, 'member', { total: limit(0) })
  expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'over_budget', limit: 0 })
  expect((await bench.ledger.reserve(request(other, 1))).kind).toBe('reserved')
  await setBudget(payer, 'member', { total: limit(10) })
  await spend(payer, 10)
  expect((await bench.ledger.reserve(request(payer, 1))).kind).toBe('over_budget')
  bench.history.setBudgets(payer.accountId, [])
  await bench.ledger.reloadBudgets(payer.accountId)
  expect(await redis.exists(budgetsName(payer.accountId))).toBe(0)
  expect((await bench.ledger.reserve(request(payer, 1))).kind).toBe('reserved')
  expect(await violations()).toEqual([])
})

test('a grant raises the budget of the current window only', async () => {
  const { payer } = await team()
  const day = Math.floor(Date.now() / 86_400_000)
  await setBudget(payer, 'member', { day: { limit: nano(100), grant: nano(50), grantAt: day } })
  expect((await bench.ledger.reserve(request(payer, 150))).kind).toBe('reserved')
  await setBudget(payer, 'member', { day: { limit: nano(500), grant: nano(50), grantAt: day - 1 } })
  expect(await bench.ledger.reserve(request(payer, 400))).toMatchObject({ limit: 500, held: 150 })
})

test('a new budget counts earlier spending and open holds', async () => {
  const { payer } = await team()
  await spend(payer, 70)
  await bench.history.flush(redis, [payer.accountId])
  await spend(payer, 20)
  const open = request(payer, 5)
  expect((await bench.ledger.reserve(open)).kind).toBe('reserved')
  await setBudget(payer, 'member', { week: limit(100) })
  expect(await bench.ledger.reserve(request(payer, 6))).toMatchObject({
    window: 'week',
    spent: 90,
    held: 5,
    remaining: 5,
  })
  await bench.ledger.settle(settlement(open, 1))
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({ held: 0, windows: { total: { spent: 91 } } })
  expect(await violations()).toEqual([])
})

test('budgets that apply to a key are loaded before its first request', async () => {
  const { payer } = await team()
  await setBudget(payer, 'member', { day: limit(100) })
  const made = { ...payer, keyId: `${payer.keyId}_new` }
  bench.history.setKey({ ...made, ownerId: MEMBER })
  const now = await bench.ledger.readBudgets(payer.accountId, made.keyId)
  expect([...(now?.entries.keys() ?? [])]).toEqual([`member:${MEMBER}`])
  expect((await bench.ledger.readBudgets(payer.accountId, 'key_nobody'))?.entries.size).toBe(0)
})

test('budget windows start anew without a background job', async () => {
  const { payer } = await team()
  await setBudget(payer, 'key', { day: limit(100), week: limit(100), month: limit(100), total: limit(1_000) })
  for (const [index, window] of (['day', 'week', 'month'] as const).entries()) {
    await spend(payer, 100)
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'over_budget' })
    await age(payer, `key:${payer.keyId}`)
    const entry = await entryOf(payer, `key:${payer.keyId}`)
    expect(entry?.windows[window].spent).toBe(100)
    await spend(payer, 0, 100)
    expect(await entryOf(payer, `key:${payer.keyId}`)).toMatchObject({
      windows: { [window]: { spent: 0 }, total: { spent: (index + 1) * 100 } },
    })
  }
  // What the history says has all been spent today.
  await bench.ledger.reloadBudgets(payer.accountId)
  expect(await violations()).toEqual([])
})

/** Makes what an entry has spent that of windows which are over. */
async function age(payer: Payer, field: string): Promise<void> {
  const stored = await redis.hgetBuffer(budgetsName(payer.accountId), field)
  const numbers = new Float64Array(new Uint8Array(stored ?? []).buffer)
  for (const at of [1, 6, 11]) numbers[at] = (numbers[at] ?? 0) - 1
  await redis.hset(budgetsName(payer.accountId), field, Buffer.from(numbers.buffer))
}

test('a request counts for the member who owned the key when it began', async () => {
  const { payer } = await team()
  await setBudget(payer, 'member', { day: limit(1_000) })
  const settled = request(payer, 100)
  const [expired, late] = [request(payer, 100, { inputCost: nano(7) }), request(payer, 100, { inputCost: nano(9) })]
  for (const hold of [settled, expired, late]) await bench.ledger.reserve(hold)
  for (const { holdId } of [expired, late]) {
    const progress = { cost: nano(0), facts: settlement(settled, 0).facts, reached: true, ttlMs: 60_000 }
    await bench.ledger.renew([{ accountId: payer.accountId, holdId, ...progress }])
  }
  bench.history.setKey({ ...payer, ownerId: 'user_b' })
  await bench.ledger.setKeyState(keyState(payer, { ownerId: 'user_b' }))
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({ held: 300 })
  await bench.ledger.settle(settlement(settled, 40))
  for (const hold of [expired, late]) await passDeadline(redis, hold)
  await bench.ledger.expireDue(10)
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({ held: 0, windows: { day: { spent: 56 } } })
  expect(await bench.ledger.settle(settlement(late, 20))).toMatchObject({ kind: 'late', expiredCost: 9 })
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({ windows: { day: { spent: 67 } } })
  await spend(payer, 500)
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({ held: 0, windows: { day: { spent: 67 } } })
  await bench.history.flush(redis, [payer.accountId])
  const records = bench.history.records(payer.accountId).toSorted((one, other) => Number(one.cost - other.cost))
  expect(records.map(({ memberId, cost }) => [memberId, Number(cost)])).toEqual([
    [MEMBER, 7],
    [MEMBER, 9],
    [MEMBER, 11],
    [MEMBER, 40],
    ['user_b', 500],
  ])
  expect(await violations()).toEqual([])
})

test('budget sums are the same after a rebuild and after Redis was emptied', async () => {
  const { payer, other } = await team()
  const { accountId } = payer
  bench.history.setBudgets(accountId, [
    { scope: 'account', scopeId: accountId, limits: { month: limit(9_000) } },
    { scope: 'member', scopeId: MEMBER, limits: { day: limit(5_000) } },
    { scope: 'key', scopeId: other.keyId, limits: { total: limit(4_000) } },
  ])
  await bench.ledger.reloadBudgets(accountId)
  await spend(payer, 30)
  await spend(other, 50)
  await bench.history.flush(redis, [accountId])
  await spend(payer, 11)
  const before = await bench.ledger.readBudgets(accountId)
  await rebuildAll({ redis, history: bench.history, logger: bench.logger })
  expect((await bench.ledger.readBudgets(accountId))?.entries).toEqual(before?.entries as never)
  await bench.history.flush(redis, [accountId])
  await redis.flushall()
  const [fresh] = [createBench(redis, undefined, bench.history)]
  expect((await fresh.ledger.readBudgets(accountId))?.entries).toEqual(before?.entries as never)
  expect(await fresh.ledger.reserve(request(payer, 5_000))).toMatchObject({ scope: 'member', spent: 41 })
  expect(await violations()).toEqual([])
})

test('a key that Redis does not know is looked up in Postgres before it spends', async () => {
  const { payer } = await team()
  await setBudget(payer, 'member', { day: limit(10) })
  const fresh = { accountId: payer.accountId, keyId: `${payer.keyId}_new` }
  bench.history.setKey({ ...fresh, ownerId: MEMBER })
  expect(await bench.ledger.reserve(request(fresh, 11))).toMatchObject({ kind: 'over_budget', scope: 'member' })
})

test('a released hold leaves no amount in budgets, and other gateways read the same budgets', async () => {
  const { payer } = await team()
  const elsewhere = createBench(redis, undefined, bench.history)
  const [early, hold] = [request(payer, 10), request(payer, 10)]
  await elsewhere.ledger.reserve(early)
  await setBudget(payer, 'account', { day: limit(20) })
  expect(await elsewhere.ledger.release(early)).toBe('released')
  expect((await elsewhere.ledger.reserve(hold)).kind).toBe('reserved')
  const third = createBench(redis, undefined, bench.history)
  expect(await third.ledger.settle(settlement(hold, 3))).toMatchObject({ kind: 'settled' })
  expect(await entryOf(payer, 'account')).toMatchObject({ held: 0, windows: { day: { spent: 3 } } })
  expect(await violations()).toEqual([])
})

test('changing budgets under load loses no nano-USD', async () => {
  const { payer, other } = await team()
  const traffic = async (who: Payer) => {
    for (let index = 0; index < 40; index++) await spend(who, 7, 20)
  }
  const changes = async () => {
    for (const day of [1e5, 2e5, 3e5, 4e5, 5e5].map(limit)) await setBudget(payer, 'member', { day, month: day })
  }
  await Promise.all([traffic(payer), traffic(payer), traffic(other), changes()])
  expect(await entryOf(payer, `member:${MEMBER}`)).toMatchObject({
    held: 0,
    windows: { day: { limit: 500_000, spent: 560 } },
  })
  expect(await violations()).toEqual([])
})
