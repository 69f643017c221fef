/** Renew and expire: the charge of a hold whose gateway died. */
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
  storeMs,
} from '@test/ledger/harness'
import { setStored } from '@test/ledger/store/stored'
import { until } from '@test/support/until'
import { expireHolds } from '@/ledger/holds/expire'
import { createSweeper } from '@/ledger/holds/sweeper'
import type { Renewal, ReserveRequest } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { accountName, deadlinesName, holdMember, holdName, keyName, recordsName, shardOf } from '@/ledger/store/names'
import { parseUsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

async function reserved(amount: number, inputCost: number, credit = 1_000): Promise<ReserveRequest> {
  const hold = request(await bench.fund(credit), amount, { inputCost: nano(inputCost) })
  expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
  return hold
}

function renewal(hold: ReserveRequest, cost: number, changes: Partial<Renewal> = {}): Renewal {
  const { accountId, holdId } = hold
  return {
    accountId,
    holdId,
    ttlMs: 60_000,
    cost: nano(cost),
    facts: FACTS,
    reached: true,
    ...changes,
  }
}

/** Expires one hold whose deadline has passed; returns its cost, or a negative number where it was left alone. */
async function expire(hold: ReserveRequest): Promise<number> {
  const member = await passDeadline(bench.redis, hold)
  const [cost] = await expireHolds(bench.deps, shardOf(hold.accountId), [member])
  return cost ?? Number.NaN
}

async function deadlineOf(hold: ReserveRequest): Promise<number> {
  return Number(await bench.redis.zscore(deadlinesName(shardOf(hold.accountId)), holdMember(hold)))
}

describe('renew', () => {
  test('renew only moves deadlines forward, and replies in the order of its arguments across shards', async () => {
    const holds = await Promise.all(Array.from({ length: 20 }, () => reserved(100, 10)))
    const [open, settled, released, expired] = holds as [ReserveRequest, ReserveRequest, ReserveRequest, ReserveRequest]
    await bench.ledger.settle(settlement(settled, 1))
    await bench.ledger.release(released)
    await expire(expired)
    const unknown = { ...open, holdId: 'hold_nobody' }
    const asked = [unknown, ...holds]
    const outcomes = await bench.ledger.renew(asked.map((hold) => renewal(hold, 5, { ttlMs: 90_000 })))
    expect(outcomes.slice(0, 5)).toEqual(['unknown_hold', 'renewed', 'settled', 'released', 'expired'])
    expect(outcomes.slice(5)).toEqual(Array.from({ length: 16 }, () => 'renewed' as const))
    const pushed = await deadlineOf(open)
    expect(pushed).toBeGreaterThan((await storeMs(bench.redis)) + 80_000)
    await bench.ledger.renew([renewal(open, 5, { ttlMs: 1_000 })])
    expect(await deadlineOf(open)).toBe(pushed)
  })

  test('renew accepts more holds than one script takes', async () => {
    const payer = await bench.fund(1_000)
    const holds = Array.from({ length: 450 }, () => request(payer, 1))
    await Promise.all(holds.map((hold) => bench.ledger.reserve(hold)))
    const outcomes = await bench.ledger.renew(holds.map((hold) => renewal(hold, 1)))
    expect(outcomes).toEqual(holds.map(() => 'renewed' as const))
    expect(await bench.ledger.renew([])).toEqual([])
  })
})

describe('expire', () => {
  test('expire charges nothing if the upstream was not reached, and writes no usage record', async () => {
    const hold = await reserved(400, 100)
    await bench.ledger.renew([renewal(hold, 0, { reached: false })])
    expect(await expire(hold)).toBe(0)
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({
      ...{ available: nano(1_000), held: nano(0), spent: nano(0), seq: 0 },
    })
    expect(await bench.ledger.reserve(hold)).toEqual({ kind: 'exists', state: 'expired' })
  })

  test.each([
    ['the recorded cost', 250, 250],
    ['at least the input', 40, 100],
    ['at most the hold', 900, 400],
  ])('expire charges %s if the upstream was reached', async (_, recorded, charged) => {
    const hold = await reserved(400, 100)
    await bench.ledger.renew([renewal(hold, recorded)])
    await bench.ledger.renew([renewal(hold, recorded, { reached: false })])
    expect(await expire(hold)).toBe(charged)
    expect(await expire(hold)).toBe(-1)
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({
      ...{
        available: nano(1_000 - charged),
        held: nano(0),
        spent: nano(charged),
        spentThisMonth: nano(charged),
        seq: 1,
      },
    })
    expect(await bench.ledger.readKey(hold)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(charged) })
    const entries = await bench.redis.xrange(recordsName(shardOf(hold.accountId)), '-', '+')
    const records = entries.flatMap(([, fields]) => parseUsageRecord(fields) ?? [])
    expect(records.filter((record) => record.holdId === hold.holdId)).toMatchObject([
      { recordId: hold.holdId, kind: 'expire', cost: nano(charged), held: nano(400), flags: ['estimated', 'expired'] },
    ])
    expect((await bench.ledger.recentRecords(hold.accountId, 5))[0]).toMatchObject({
      ...{ model: FACTS.model, inputTokens: 18, outputTokens: 7, cost: nano(charged) },
    })
  })

  test('expire skips holds that are not due, were renewed in time, or were resolved', async () => {
    const [open, renewed, settled] = [await reserved(1, 0), await reserved(1, 0), await reserved(1, 0)]
    await passDeadline(bench.redis, renewed)
    await bench.ledger.renew([renewal(renewed, 1)])
    await bench.ledger.settle(settlement(settled, 1))
    for (const hold of [open, renewed, settled]) {
      expect(await expireHolds(bench.deps, shardOf(hold.accountId), [hold])).toEqual([-1])
    }
    const ids = (await bench.ledger.expireDue(1_000)).map((hold) => hold.holdId)
    for (const hold of [open, renewed, settled]) expect(ids).not.toContain(hold.holdId)
  })

  test('expire handles many holds of one account in one call, also across the end of a month', async () => {
    const payer = await bench.fund(10_000)
    const holds = Array.from({ length: 30 }, () => request(payer, 100, { inputCost: nano(7) }))
    for (const hold of holds) await bench.ledger.reserve(hold)
    await bench.ledger.renew(holds.map((hold) => renewal(hold, 10)))
    for (const hold of holds) await passDeadline(bench.redis, hold)
    await setStored(bench.redis, 'account', accountName(payer.accountId), { month: 202001, spentMonth: 5 })
    await setStored(bench.redis, 'key', keyName(payer), { month: 202001, spentMonth: 5 })
    let expired = 0
    while (expired < 30) {
      const batch = (await bench.ledger.expireDue(7)).filter((hold) => hold.accountId === payer.accountId)
      expect(batch.length).toBeGreaterThan(0)
      expired += batch.length
    }
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
      ...{ available: nano(9_700), held: nano(0), spent: nano(300), spentThisMonth: nano(300), seq: 30 },
    })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(300) })
  })

  test('expire returns the amount of a lost hold, and loads a lost account', async () => {
    const [lostHold, lostAccount] = [await reserved(400, 100), await reserved(400, 100)]
    await bench.redis.del(holdName(lostHold.accountId, lostHold.holdId))
    expect(await expire(lostHold)).toBe(0)
    expect(await bench.ledger.readBalance(lostHold.accountId)).toMatchObject({ available: nano(1_000), held: nano(0) })
    await bench.redis.del(accountName(lostAccount.accountId))
    await passDeadline(bench.redis, lostAccount)
    const isExpired = async () =>
      (await bench.ledger.expireDue(100)).some((hold) => hold.accountId === lostAccount.accountId)
    expect(await isExpired()).toBe(false)
    expect(await isExpired()).toBe(true)
    expect(await bench.ledger.readBalance(lostAccount.accountId)).toMatchObject({
      available: nano(1_000),
      held: nano(0),
    })
  })
})

test('if no hold is open, expire sends one command for all shards', async () => {
  const looks = async () => Number(/cmdstat_zrange:calls=(\d+)/.exec(await bench.redis.info('commandstats'))?.[1] ?? 0)
  const [empty, full] = [['{none}:a', '{none}:b'], '{none}:c']
  const before = await looks()
  expect(await bench.deps.runner.run(SCRIPTS.due, empty, [10])).toEqual([[], []])
  expect(await looks()).toBe(before)
  await bench.redis.zadd(full, 1, 'acct:key:hold:5')
  expect(await bench.deps.runner.run(SCRIPTS.due, [...empty, full], [10])).toEqual([[], [], ['acct:key:hold:5']])
  await bench.redis.del(full)
})

test('sweepers of several gateways expire each hold once, and stop when asked', async () => {
  const payer = await bench.fund(100_000)
  const holds = Array.from({ length: 300 }, () => request(payer, 100))
  await Promise.all(holds.map((hold) => bench.ledger.reserve(hold)))
  await bench.ledger.renew(holds.map((hold) => renewal(hold, 3)))
  await Promise.all(holds.map((hold) => passDeadline(bench.redis, hold)))
  const sweepers = Array.from({ length: 3 }, () =>
    createSweeper({ ledger: bench.ledger, logger: bench.logger, intervalMs: 5, limitPerShard: 20 }),
  )
  for (const sweeper of sweepers) sweeper.start()
  await until(async () => (await bench.ledger.readKey(payer))?.open === 0, 'all holds to expire')
  await Promise.all(sweepers.map((sweeper) => sweeper.stop()))
  expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
    available: nano(99_100),
    spent: nano(900),
    seq: 300,
  })
  const logged = bench.logger.lines.filter(
    (line) => line.event === 'hold_expired' && line.fields?.accountId === payer.accountId,
  )
  expect(new Set(logged.map((line) => line.fields?.holdId)).size).toBe(300)
  expect(logged.length).toBe(300)
  const after = request(payer, 1)
  await bench.ledger.reserve(after)
  await passDeadline(bench.redis, after)
  expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1 })
})
