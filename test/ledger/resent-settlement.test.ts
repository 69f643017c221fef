/** Settlements sent again to a Redis that lost its last seconds, although Postgres has them: none is charged twice. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { checkLedger } from '@/ledger/check/check'
import type { LedgerHistory, Payer, ReserveRequest } from '@/ledger/outcomes'
import {
  accountName,
  creditedName,
  deadlinesName,
  holdMember,
  holdName,
  keyName,
  loadedName,
  metaName,
  recordsName,
  shardOf,
} from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from './harness'

const CREDIT = 10_000
const COST = 300
let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

/** The moments of a load at which the settlement can come, each a read of the history, and before and after it. */
const MOMENTS = ['before', 'accounts', 'knownRecordIds', 'after'] as const

test.each(MOMENTS)(
  'a settlement sent again %s the account is compared with the history is charged once',
  async (moment) => {
    const { payer, hold } = await chargedAndForgotten()
    const again = () => bench.ledger.settle(settlement(hold, COST), { force: true })
    if (moment === 'before') await again()
    const restore = moment === 'accounts' || moment === 'knownRecordIds' ? interrupt(moment, again) : () => undefined
    await bench.ledger.readBalance(payer.accountId)
    restore()
    if (moment === 'after') expect(await again()).toEqual({ kind: 'already_settled' })
    await bench.history.flush(bench.redis, [payer.accountId])
    const balance = await bench.ledger.readBalance(payer.accountId)
    expect(balance).toMatchObject({ available: nano(CREDIT - COST), held: nano(0), spent: nano(COST) })
    expect((await bench.history.account(payer.accountId))?.spent).toBe(nano(COST))
    const key = await bench.ledger.readKey(payer)
    expect(key).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(COST) })
  },
)

test('a settlement that is sent again is charged once, even if its hold expires before the account is compared with Postgres', async () => {
  const { payer, hold } = await chargedAndForgotten()
  await reachUpstream(hold)
  await passDeadline(bench.redis, hold)
  await bench.ledger.expireDue(1_000)
  await bench.ledger.expireDue(1_000)
  expect(await bench.ledger.settle(settlement(hold, COST), { force: true })).toEqual({ kind: 'already_settled' })
  await expectOneCharge(payer)
})

test('a settlement that reached Postgres late, after its hold expired again, is charged once', async () => {
  const { redis, ledger, history } = bench
  const payer = await bench.fund(CREDIT)
  const hold = request(payer, 1_000)
  await ledger.reserve(hold)
  const rewind = await remember(hold)
  const settled = await ledger.settle(settlement(hold, COST))
  if (settled.kind !== 'settled') throw new Error(settled.kind)
  await rewind()
  await redis.del(recordsName(shardOf(payer.accountId)))
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ held: nano(1_000) })
  await reachUpstream(hold)
  await passDeadline(redis, hold)
  await ledger.expireDue(1_000)
  history.write([settled.record])
  expect(await ledger.settle(settlement(hold, COST), { force: true })).toEqual({ kind: 'already_settled' })
  await expectOneCharge(payer)
})

test('a second charge on its way to Postgres is not charged, and the check reports it', async () => {
  const { redis, ledger, history, logger } = bench
  const payer = await bench.fund(CREDIT)
  const hold = request(payer, 1_000)
  await ledger.reserve(hold)
  await reachUpstream(hold)
  await passDeadline(redis, hold)
  await ledger.expireDue(1_000)
  const late = await ledger.settle(settlement(hold, COST))
  if (late.kind !== 'late') throw new Error(late.kind)
  history.write([{ ...late.record, recordId: hold.holdId, kind: 'settle', cost: nano(COST) }])
  const { violations } = await checkLedger({ redis, history, logger })
  expect(violations.filter(({ accountId }) => accountId === payer.accountId)).toEqual([
    { kind: 'hold_charged_twice', accountId: payer.accountId, detail: expect.stringContaining(hold.holdId) },
  ])
  await expectOneCharge(payer)
})

test('a settlement that is already in Postgres is not sent again, and an account loaded without it is corrected', async () => {
  const { redis, ledger, history } = bench
  const payer = await bench.fund(CREDIT)
  const hold = request(payer, 1_000)
  await ledger.reserve(hold)
  const settled = await ledger.settle(settlement(hold, COST))
  if (settled.kind !== 'settled') throw new Error(settled.kind)
  expect(await ledger.isBooked(hold)).toBe(false)
  // Lost with all of its shard, and written by a worker that had it in hand, once the account had been loaded.
  const shard = shardOf(payer.accountId)
  const names = [accountName(payer.accountId), keyName(payer), holdName(payer.accountId, hold.holdId)]
  await redis.del(...names, recordsName(shard), deadlinesName(shard), loadedName(shard), creditedName(payer.accountId))
  await redis.hset(metaName(shard), 'epoch', randomId('epoch'))
  expect(await ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(CREDIT) })
  history.write([settled.record])
  expect(await ledger.isBooked(hold)).toBe(true)
  await expectOneCharge(payer)
})

test('for a settlement that is already in Postgres no account is loaded', async () => {
  const { hold, payer } = await chargedAndForgotten()
  await bench.redis.del(accountName(payer.accountId))
  expect(await bench.ledger.isBooked(hold)).toBe(true)
  expect(await bench.redis.exists(accountName(payer.accountId))).toBe(0)
})

test('a settlement does not count as booked if Postgres has only the expiry, or cannot be read', async () => {
  const { redis, ledger, history } = bench
  const hold = request(await bench.fund(CREDIT), 1_000)
  await ledger.reserve(hold)
  await reachUpstream(hold)
  await passDeadline(redis, hold)
  await ledger.expireDue(1_000)
  await history.flush(redis, [hold.accountId])
  expect(await history.knownRecordIds([hold.holdId])).toEqual([hold.holdId])
  expect(await ledger.isBooked(hold)).toBe(false)
  const charged = await chargedAndForgotten()
  history.setDown(true)
  expect(await ledger.isBooked(charged.hold)).toBe(false)
  history.setDown(false)
  expect(await ledger.isBooked(charged.hold)).toBe(true)
})

/** A charge that has reached the history, in a store that came back as it was before the charge. */
async function chargedAndForgotten(): Promise<{ payer: Payer; hold: ReserveRequest }> {
  const { redis, ledger, history } = bench
  const payer = await bench.fund(CREDIT)
  const hold = request(payer, 1_000)
  await ledger.reserve(hold)
  const rewind = await remember(hold)
  await ledger.settle(settlement(hold, COST))
  await history.flush(redis, [payer.accountId])
  await rewind()
  return { payer, hold }
}

/** Remembers the store as it is with this hold open. Returns how to go back to that, in a new epoch. */
async function remember(hold: ReserveRequest): Promise<() => Promise<void>> {
  const { redis } = bench
  const names = [accountName(hold.accountId), keyName(hold), holdName(hold.accountId, hold.holdId)]
  const before = await Promise.all(names.map((name) => redis.dumpBuffer(name)))
  return async () => {
    for (const [index, name] of names.entries()) {
      await redis.restore(name, 0, before[index] ?? '', 'REPLACE')
    }
    const shard = shardOf(hold.accountId)
    await redis.zadd(deadlinesName(shard), Date.now() + 60_000, holdMember({ ...hold, amount: hold.amount }))
    await redis.hset(metaName(shard), 'epoch', randomId('epoch'))
  }
}

async function reachUpstream({ accountId, holdId }: ReserveRequest): Promise<void> {
  await bench.ledger.renew([{ accountId, holdId, ttlMs: 60_000, cost: nano(10), facts: FACTS, reached: true }])
}

async function expectOneCharge(payer: Payer): Promise<void> {
  await bench.history.flush(bench.redis, [payer.accountId])
  const balance = await bench.ledger.readBalance(payer.accountId)
  expect(balance).toMatchObject({ available: nano(CREDIT - COST), held: nano(0), spent: nano(COST) })
  expect((await bench.history.account(payer.accountId))?.spent).toBe(nano(COST))
  expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(COST) })
}

/** Does `work` once, while the history is being read. Returns how to stop that. */
function interrupt(name: 'accounts' | 'knownRecordIds', work: () => Promise<unknown>): () => void {
  const { history } = bench
  const read: (ids: string[]) => Promise<unknown> = history[name]
  let isDone = false
  const interrupted = async (ids: string[]) => {
    const answer = await read(ids)
    if (!isDone) {
      isDone = true
      await work()
    }
    return answer
  }
  Object.assign(history, { [name]: interrupted } satisfies Partial<Record<keyof LedgerHistory, unknown>>)
  return () => void Object.assign(history, { [name]: read })
}
