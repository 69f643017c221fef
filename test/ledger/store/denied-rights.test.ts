/** A Redis user that temporarily lacks the right to a command: nothing is charged twice or without reason, and no credit stays held. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import {
  type Bench,
  connect,
  createBench,
  FACTS,
  passDeadline,
  request,
  settlement,
  snapshot,
} from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { expireHolds } from '@/ledger/holds/expire'
import { deadlinesName, shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'

const TIMEOUT_MS = 10_000
const unavailable = { kind: 'overloaded', status: 503 }

let server: TestServer
let bench: Bench

beforeAll(async () => {
  server = await startRedis()
  bench = createBench(await connect(server.url, TIMEOUT_MS))
})
afterAll(async () => {
  bench.redis.disconnect()
  await server.stop()
})

describe('a Redis user who may not append records', () => {
  async function withoutRecords(work: () => Promise<unknown>): Promise<void> {
    await bench.redis.call('ACL', 'SETUSER', 'default', '-xadd')
    await expect(work()).rejects.toMatchObject(unavailable)
    await bench.redis.call('ACL', 'SETUSER', 'default', '+xadd')
  }

  test('without the right to append, settle charges nothing; once the right is back, the charge is made once', async () => {
    const payer = await bench.fund(1_000)
    const hold = request(payer, 100)
    await bench.ledger.reserve(hold)
    const before = await snapshot(bench.redis, payer.accountId)
    await withoutRecords(() => bench.ledger.settle(settlement(hold, 40)))
    expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
    expect(await bench.ledger.settle(settlement(hold, 40))).toMatchObject({ kind: 'settled', record: { seq: 1 } })
    await bench.history.flush(bench.redis, [payer.accountId])
    expect(bench.history.records(payer.accountId)).toHaveLength(1)
  })

  test('without the right to append, due holds stay open; once the right is back, they are charged once', async () => {
    const payer = await bench.fund(1_000)
    const holds = [request(payer, 100), request(payer, 200), request(payer, 300)]
    for (const hold of holds) await bench.ledger.reserve(hold)
    const { accountId } = payer
    const renewal = { accountId, ttlMs: 1_000, facts: FACTS, reached: true }
    const [free, ...reached] = holds
    await bench.ledger.renew(reached.map(({ holdId }) => ({ ...renewal, holdId, cost: nano(40) })))
    const due = await Promise.all(holds.map((hold) => passDeadline(bench.redis, hold)))
    const before = await snapshot(bench.redis, accountId)
    await withoutRecords(() => expireHolds(bench.deps, shardOf(accountId), due))
    expect(await snapshot(bench.redis, accountId)).toEqual(before)
    expect(await expireHolds(bench.deps, shardOf(accountId), due)).toEqual([0, 40, 40])
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(920), held: nano(0), seq: 2 })
    await bench.history.flush(bench.redis, [accountId])
    const booked = bench.history.records(accountId).map(({ holdId }) => holdId)
    expect(booked.sort()).toEqual(reached.map(({ holdId }) => holdId).sort())
    expect(booked).not.toContain(free?.holdId)
  })
})

/** The account of `payer` with a budget that is not used up. */
async function withBudget<Payer extends { accountId: string }>(payer: Payer): Promise<Payer> {
  const { accountId } = payer
  const limits = { total: { limit: nano(5_000), grant: nano(0), grantAt: 0 } }
  bench.history.setBudgets(accountId, [{ scope: 'account', scopeId: accountId, limits }])
  await bench.ledger.reloadBudgets(accountId)
  return payer
}

/** What is held for it, and spent of it. */
async function budgetOf({ accountId }: { accountId: string }): Promise<{ held: number; spent: number }> {
  const entry = (await bench.ledger.readBudgets(accountId))?.entries.get('account')
  return { held: Number(entry?.held), spent: Number(entry?.windows.total.spent) }
}

test.each(['xadd', 'zrem', 'mset', 'set', 'pexpire'])(
  'a settlement repeated after the Redis user temporarily lost the right to %s is charged once',
  async (command) => {
    const payer = await withBudget(await bench.fund(1_000))
    const hold = request(payer, 100)
    await bench.ledger.reserve(hold)
    await bench.redis.call('ACL', 'SETUSER', 'default', `-${command}`)
    const tries = [1, 2].map(() => bench.ledger.settle(settlement(hold, 40)))
    await Promise.allSettled(tries)
    await bench.redis.call('ACL', 'SETUSER', 'default', `+${command}`)
    await bench.ledger.settle(settlement(hold, 40))
    const { accountId } = payer
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: 960, held: 0, spent: 40 })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: 0, spentThisMonth: 40 })
    expect(await budgetOf(payer)).toEqual({ held: 0, spent: 40 })
    await bench.history.flush(bench.redis, [accountId])
    expect(bench.history.records(accountId).map(({ cost }) => Number(cost))).toEqual([40])
  },
)

test.each(['xadd', 'zrem', 'mset', 'set', 'pexpire'])(
  'holds that expire while the Redis user has no right to %s are charged once later, and none stays open',
  async (command) => {
    const payer = await withBudget(await bench.fund(1_000))
    const holds = [request(payer, 100), request(payer, 200), request(payer, 300)]
    for (const hold of holds) await bench.ledger.reserve(hold)
    const { accountId } = payer
    const renewal = { accountId, ttlMs: 1_000, facts: FACTS, reached: true }
    await bench.ledger.renew(holds.slice(1).map(({ holdId }) => ({ ...renewal, holdId, cost: nano(40) })))
    for (const hold of holds) await passDeadline(bench.redis, hold)
    const deadlines = () => bench.redis.zrange(deadlinesName(shardOf(accountId)), '0', '-1')
    bench.logger.lines.length = 0
    await bench.redis.call('ACL', 'SETUSER', 'default', `-${command}`)
    for (let sweep = 0; sweep < 2; sweep++) await bench.ledger.expireDue(10)
    await bench.redis.call('ACL', 'SETUSER', 'default', `+${command}`)
    // What is packed is not written by SET.
    expect(bench.logger.lines.some(({ event }) => event === 'expire_failed')).toBe(command !== 'set')
    await bench.ledger.expireDue(10)
    expect((await deadlines()).filter((member) => member.includes(accountId))).toEqual([])
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: 920, held: 0, spent: 80 })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: 0, spentThisMonth: 80 })
    expect(await budgetOf(payer)).toEqual({ held: 0, spent: 80 })
    await bench.history.flush(bench.redis, [accountId])
    expect(bench.history.records(accountId).map(({ cost }) => Number(cost))).toEqual([40, 40])
  },
)

test.each(['settled', 'expired'])(
  'budgets keep the amount of a hold that was %s while the Redis user could not write budgets',
  async (how) => {
    const payer = await withBudget(await bench.fund(1_000))
    const { accountId } = payer
    const hold = request(payer, 100)
    await bench.ledger.reserve(hold)
    const renewal = { accountId, ttlMs: 1_000, facts: FACTS, reached: true, holdId: hold.holdId, cost: nano(40) }
    await bench.ledger.renew([renewal])
    if (how === 'expired') await passDeadline(bench.redis, hold)
    const resolve = () =>
      how === 'expired' ? bench.ledger.expireDue(10) : bench.ledger.settle(settlement(hold, 40)).catch(() => undefined)
    await bench.redis.call('ACL', 'SETUSER', 'default', '-hset')
    for (let attempt = 0; attempt < 2; attempt++) await resolve()
    await bench.redis.call('ACL', 'SETUSER', 'default', '+hset')
    await resolve()
    expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: 960, held: 0, spent: 40 })
    expect(await budgetOf(payer)).toEqual({ held: 100, spent: 0 })
    await bench.history.flush(bench.redis, [accountId])
    expect(bench.history.records(accountId).map(({ cost }) => Number(cost))).toEqual([40])
  },
)
