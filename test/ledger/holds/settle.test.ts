/** Settle and release: what is charged, what is returned, and that repeating them changes nothing. */
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
import { readStored, setStored } from '@test/ledger/store/stored'
import type { ReserveOutcome, ReserveRequest } from '@/ledger/outcomes'
import { accountName, deadlinesName, holdMember, holdName, keyName, recordsName, shardOf } from '@/ledger/store/names'
import { parseUsageRecord } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

async function reserved(credit: number, amount: number): Promise<ReserveRequest> {
  const hold = request(await bench.fund(credit), amount)
  expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
  return hold
}

async function recordsOf(accountId: string) {
  const entries = await bench.redis.xrange(recordsName(shardOf(accountId)), '-', '+')
  return entries
    .flatMap(([, fields]) => parseUsageRecord(fields) ?? [])
    .filter((record) => record.accountId === accountId)
}

describe('settle', () => {
  test('settle charges the cost, returns the rest, and appends one usage record', async () => {
    const hold = await reserved(1_000, 400)
    const outcome = await bench.ledger.settle(settlement(hold, 150))
    expect(outcome).toMatchObject({ kind: 'settled', overrun: false })
    const month = { spent: nano(150), spentThisMonth: nano(150) }
    expect(await bench.ledger.readBalance(hold.accountId)).toEqual({
      ...{ available: nano(850), held: nano(0), status: 'active', seq: 1 },
      ...month,
    })
    const records = await recordsOf(hold.accountId)
    expect(records).toEqual(outcome.kind === 'settled' ? [outcome.record] : [])
    expect(records[0]).toMatchObject({
      ...{ recordId: hold.holdId, holdId: hold.holdId, kind: 'settle', cost: nano(150), held: nano(400), seq: 1 },
      ...{ accountId: hold.accountId, keyId: hold.keyId, flags: [], facts: FACTS },
    })
    expect(await bench.ledger.readKey(hold)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(150) })
    expect(await bench.redis.zscore(deadlinesName(shardOf(hold.accountId)), holdMember(hold))).toBeNull()
  })

  test('a repeated settle is answered with already_settled, whatever its cost', async () => {
    const hold = await reserved(1_000, 400)
    await bench.ledger.settle(settlement(hold, 150))
    const before = await snapshot(bench.redis, hold.accountId)
    expect(await bench.ledger.settle(settlement(hold, 150))).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.settle(settlement(hold, 400), { force: true })).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.release(hold)).toBe('already_settled')
    expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
  })

  test('settle may charge more than the hold, even below zero', async () => {
    const hold = await reserved(1_000, 400)
    expect(await bench.ledger.settle(settlement(hold, 1_300))).toMatchObject({
      kind: 'settled',
      overrun: true,
      record: { flags: ['overrun'], cost: nano(1_300), held: nano(400) },
    })
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({ available: nano(-300), held: nano(0) })
    expect(await readStored(bench.redis, 'account', accountName(hold.accountId))).toMatchObject({ overrun: '900' })
  })

  test('settle corrects an expired hold once by the difference, up or down', async () => {
    for (const cost of [90, 20]) {
      const hold = await reserved(1_000, 400)
      const progress = { accountId: hold.accountId, holdId: hold.holdId, ttlMs: 1_000, facts: FACTS }
      await bench.ledger.renew([{ ...progress, cost: nano(60), reached: true }])
      await passDeadline(bench.redis, hold)
      const expired = await bench.ledger.expireDue(100)
      expect(expired).toContainEqual({ ...payerOf(hold), holdId: hold.holdId, cost: nano(60) })
      const late = await bench.ledger.settle(settlement(hold, cost))
      expect(late).toMatchObject({
        kind: 'late',
        expiredCost: nano(60),
        record: { recordId: `${hold.holdId}:late`, kind: 'late', cost: nano(cost - 60), flags: ['late'], seq: 2 },
      })
      expect(await bench.ledger.settle(settlement(hold, cost))).toEqual({ kind: 'already_settled' })
      expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({
        ...{ available: nano(1_000 - cost), held: nano(0), spent: nano(cost), spentThisMonth: nano(cost), seq: 2 },
      })
      const records = await recordsOf(hold.accountId)
      expect(records.map((record) => record.cost)).toEqual([nano(60), nano(cost - 60)])
      expect(records[0]?.flags).toEqual(['estimated', 'expired'])
    }
  })

  test('a reserve sent before the settlement’s reply can already use the returned credit', async () => {
    const hold = await reserved(1_000, 1_000)
    const next = Promise.withResolvers<ReserveOutcome>()
    const onSent = () => next.resolve(bench.ledger.reserve(request(payerOf(hold), 999)))
    const settled = bench.ledger.settle(settlement(hold, 1), {}, { onSent })
    expect(await next.promise).toMatchObject({ kind: 'reserved' })
    expect(await settled).toMatchObject({ kind: 'settled' })
  })

  test('settle charges an unknown hold only if forced: once, and flagged', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.readBalance(payer.accountId)
    const lost = { ...payer, holdId: randomId('hold') }
    const before = await snapshot(bench.redis, payer.accountId)
    expect(await bench.ledger.settle(settlement(lost, 30))).toEqual({ kind: 'unknown_hold' })
    expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
    expect(await bench.ledger.settle(settlement(lost, 30), { force: true })).toMatchObject({
      kind: 'settled',
      overrun: true,
      record: { recordId: lost.holdId, cost: nano(30), held: nano(0), flags: ['overrun', 'forced'] },
    })
    expect(await bench.ledger.settle(settlement(lost, 30), { force: true })).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(970), spent: nano(30) })
  })

  test('a forced settle without a tombstone finds the charge in the stream or Postgres, and charges nothing', async () => {
    const hold = await reserved(1_000, 400)
    await bench.ledger.settle(settlement(hold, 30))
    await bench.redis.del(holdName(hold.accountId, hold.holdId))
    expect(await bench.ledger.settle(settlement(hold, 30), { force: true })).toEqual({ kind: 'already_settled' })
    await bench.history.flush(bench.redis, [hold.accountId])
    expect(await bench.ledger.settle(settlement(hold, 30), { force: true })).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({ available: nano(970) })
  })

  test('settle loads an account that the store has lost, and charges it', async () => {
    const hold = await reserved(1_000, 400)
    await bench.redis.del(accountName(hold.accountId))
    expect(await bench.ledger.settle(settlement(hold, 30))).toMatchObject({ kind: 'settled', overrun: false })
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({ available: nano(970), held: nano(0) })
  })

  test('settle works without a key that the store has lost', async () => {
    const hold = await reserved(1_000, 400)
    await bench.redis.del(keyName(hold))
    expect(await bench.ledger.settle(settlement(hold, 30))).toMatchObject({ kind: 'settled' })
    expect(await bench.redis.exists(keyName(hold))).toBe(0)
    expect(await bench.ledger.readKey(hold)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(30) })
  })

  test('settle counts calendar months for the account and the key', async () => {
    const payer = await bench.fund(10_000)
    const holds = [request(payer, 100), request(payer, 100), request(payer, 100)] as const
    for (const hold of holds) await bench.ledger.reserve(hold)
    await bench.ledger.settle(settlement(holds[0], 10))
    await setMonth(payer, 202001)
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ spent: nano(10), spentThisMonth: nano(0) })
    await bench.ledger.settle(settlement(holds[1], 20))
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ spent: nano(30), spentThisMonth: nano(20) })
    await setMonth(payer, 299901)
    await bench.ledger.settle(settlement(holds[2], 30))
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ spent: nano(60), spentThisMonth: nano(50) })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ spentThisMonth: nano(50) })
  })

  test('the latest usage records are returned newest first', async () => {
    const [payer, beganMs] = [await bench.fund(10_000), Date.now()]
    const holds = Array.from({ length: 73 }, () => request(payer, 10))
    for (const [index, hold] of holds.entries()) {
      await bench.ledger.reserve(hold)
      const facts = { ...FACTS, model: `svc/a|b|${index}` }
      await bench.ledger.settle(settlement(hold, index % 10, { facts }))
    }
    const recent = await bench.ledger.recentRecords(payer.accountId, 50)
    expect(recent.map((charge) => charge.recordId)).toEqual(
      holds
        .map((hold) => hold.holdId)
        .reverse()
        .slice(0, 50),
    )
    expect(recent[0]).toMatchObject({ model: 'svc/a|b|72', inputTokens: 18, outputTokens: 7, cost: nano(2) })
    expect(recent[0]?.atMs).toBeWithin(beganMs, Date.now() + 1)
    expect(await bench.ledger.recentRecords(payer.accountId, 3)).toEqual(recent.slice(0, 3))
  })

  test('settle refuses the hold of another payer', async () => {
    const hold = await reserved(1_000, 400)
    const other = { ...hold, keyId: randomId('key') }
    const before = await snapshot(bench.redis, hold.accountId)
    await expect(bench.ledger.settle(settlement(other, 1))).rejects.toThrow('another payer')
    await expect(bench.ledger.release(other)).rejects.toThrow('another payer')
    expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
  })
})

describe('release', () => {
  test('release returns the whole hold and writes no usage record', async () => {
    const hold = await reserved(1_000, 400)
    expect(await bench.ledger.release(hold)).toBe('released')
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({
      available: nano(1_000),
      held: nano(0),
      seq: 0,
    })
    expect(await bench.ledger.readKey(hold)).toMatchObject({ open: 0, held: nano(0) })
    expect(await recordsOf(hold.accountId)).toEqual([])
    const before = await snapshot(bench.redis, hold.accountId)
    expect(await bench.ledger.release(hold)).toBe('already_released')
    expect(await bench.ledger.settle(settlement(hold, 10), { force: true })).toEqual({ kind: 'already_released' })
    expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
  })

  test('releasing an unknown hold id makes a later reserve of that id find it resolved', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.readBalance(payer.accountId)
    const late = request(payer, 400)
    expect(await bench.ledger.release(late)).toBe('unknown_hold')
    expect(await bench.ledger.reserve(late)).toEqual({ kind: 'exists', state: 'released' })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(1_000), held: nano(0) })
  })

  test('release after the hold’s expiry changes nothing', async () => {
    const hold = await reserved(1_000, 400)
    await passDeadline(bench.redis, hold)
    await bench.ledger.expireDue(100)
    expect(await bench.ledger.release(hold)).toBe('already_expired')
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({ available: nano(1_000), held: nano(0) })
  })

  test('release works without the account, and a later load does not count the hold', async () => {
    const hold = await reserved(1_000, 400)
    await bench.redis.del(accountName(hold.accountId))
    expect(await bench.ledger.release(hold)).toBe('released')
    expect(await bench.ledger.readBalance(hold.accountId)).toMatchObject({ available: nano(1_000), held: nano(0) })
  })
})

test('only tombstones and lists of latest usage records have an expiry in Redis', async () => {
  const hold = await reserved(1_000, 400)
  const { accountId } = hold
  const open = request(hold, 10)
  await bench.ledger.reserve(open)
  await bench.ledger.settle(settlement(hold, 10))
  expect(await bench.redis.pttl(holdName(accountId, hold.holdId))).toBeGreaterThan(590_000)
  for (const name of [holdName(accountId, open.holdId), accountName(accountId), keyName(hold)]) {
    expect(await bench.redis.pttl(name)).toBe(-1)
  }
  for (const name of Object.keys(await snapshot(bench.redis, accountId))) {
    if (!name.includes(':hold:')) expect(await bench.redis.pttl(name)).toBe(-1)
  }
})

function payerOf({ accountId, keyId }: ReserveRequest) {
  return { accountId, keyId }
}

async function setMonth(payer: Parameters<typeof keyName>[0], month: number): Promise<void> {
  await setStored(bench.redis, 'account', accountName(payer.accountId), { month })
  await setStored(bench.redis, 'key', keyName(payer), { month })
}
