/** A Redis restored to an earlier state, in which a hold is open that the history has charged: it is charged once. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from '@test/ledger/harness'
import { setStored } from '@test/ledger/store/stored'
import { viewAccounts } from '@/ledger/accounts/account-view'
import type { ReserveRequest } from '@/ledger/outcomes'
import { accountName, deadlinesName, holdMember, holdName, keyName, metaName, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { test } from './within-day'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

test('if Redis lost a settlement, the account is corrected and its reopened hold is closed', async () => {
  const payer = await bench.fund(1_000)
  const { accountId } = payer
  const hold = request(payer, 400)
  await bench.ledger.reserve(hold)
  const forget = await rememberHold(hold)
  await bench.ledger.settle(settlement(hold, 150))
  await bench.history.flush(bench.redis, [accountId])
  await forget()
  await loseConfirmation(accountId)
  expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(850), held: nano(0), seq: 1 })
  expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: nano(0), spentThisMonth: nano(150) })
  expect(await bench.ledger.settle(settlement(hold, 150), { force: true })).toEqual({ kind: 'already_settled' })
  expect(await bench.redis.zscore(deadlinesName(shardOf(accountId)), holdMember(hold))).toBeNull()
})

test('a key is corrected together with its account in one step', async () => {
  const payer = await bench.fund(1_000)
  const { accountId, keyId } = payer
  const [hold, other] = [request(payer, 400), request(payer, 30)]
  for (const one of [hold, other]) await bench.ledger.reserve(one)
  const forget = await rememberHold(hold)
  await bench.ledger.settle(settlement(hold, 150))
  await bench.history.flush(bench.redis, [accountId])
  await forget()
  await loseConfirmation(accountId)
  expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 2, held: nano(430) })
  const halting = createBench(bench.redis, undefined, {
    ...bench.history,
    key: () => Promise.reject(new Error('away')),
  })
  expect(await halting.ledger.readBalance(accountId)).toMatchObject({ available: nano(820), held: nano(30) })
  const views = await viewAccounts(bench.deps, shardOf(accountId), new Map([[accountId, [keyId]]]))
  expect(views.get(accountId)?.keys.get(keyId)).toMatchObject({ open: 1, held: 30, spentMonth: 150 })
})

test('a late settlement is charged once if Redis lost its hold’s free expiry', async () => {
  const payer = await bench.fund(1_000)
  const { accountId } = payer
  const hold = request(payer, 400)
  await bench.ledger.reserve(hold)
  const forget = await rememberHold(hold)
  await passDeadline(bench.redis, hold)
  await bench.ledger.expireDue(100)
  expect(await bench.ledger.settle(settlement(hold, 150), { force: true })).toMatchObject({ kind: 'late' })
  await bench.history.flush(bench.redis, [accountId])
  await forget()
  await loseConfirmation(accountId)
  expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(850), held: nano(0) })
  expect(await bench.ledger.settle(settlement(hold, 150), { force: true })).toEqual({ kind: 'already_settled' })
})

test('a late settlement that is sent again is charged once, even on an unused account', async () => {
  const payer = await bench.fund(1_000)
  const { accountId } = payer
  const hold = request(payer, 400)
  await bench.ledger.reserve(hold)
  const forget = await rememberHold(hold)
  await passDeadline(bench.redis, hold)
  await bench.ledger.expireDue(100)
  await bench.ledger.settle(settlement(hold, 150), { force: true })
  await bench.history.flush(bench.redis, [accountId])
  await forget()
  await loseConfirmation(accountId)
  const again = await bench.ledger.settle(settlement(hold, 150), { force: true, isRepeat: true })
  expect(again).toEqual({ kind: 'already_settled' })
  expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(850), spent: nano(150) })
})

test('a hold that expires twice is charged once', async () => {
  const payer = await bench.fund(1_000)
  const { accountId } = payer
  const hold = request(payer, 400, { inputCost: nano(40) })
  await bench.ledger.reserve(hold)
  const forget = await rememberHold(hold)
  await bench.ledger.settle(settlement(hold, 150))
  await bench.history.flush(bench.redis, [accountId])
  await forget()
  await setStored(bench.redis, 'hold', holdName(accountId, hold.holdId), { reached: 1, record: JSON.stringify(FACTS) })
  await passDeadline(bench.redis, hold)
  await bench.ledger.expireDue(100)
  await loseConfirmation(accountId)
  expect(await bench.ledger.readBalance(accountId)).toMatchObject({ available: nano(850), spent: nano(150) })
  await bench.history.flush(bench.redis, [accountId])
  expect((await bench.history.account(accountId))?.balance).toBe(nano(850))
})

/** Returns the way to bring the store back to where this hold is open, and what came after it is forgotten. */
async function rememberHold(hold: ReserveRequest): Promise<() => Promise<void>> {
  const { accountId } = hold
  const names = [accountName(accountId), keyName(hold), holdName(accountId, hold.holdId)]
  const old = await Promise.all(names.map((name) => bench.redis.dumpBuffer(name)))
  return async () => {
    for (const [index, name] of names.entries()) await bench.redis.restore(name, 0, old[index] ?? '', 'REPLACE')
    await bench.redis.zadd(deadlinesName(shardOf(accountId)), Date.now() + 60_000, holdMember(hold))
  }
}

/** Makes the account unconfirmed, as a store that came back does. */
async function loseConfirmation(accountId: string): Promise<void> {
  await bench.redis.hset(metaName(shardOf(accountId)), 'epoch', randomId('epoch'))
}
