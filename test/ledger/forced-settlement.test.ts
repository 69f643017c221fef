/**
 * Settlements sent again to an emptied Redis while a flusher still has its records: the charge reaches the history,
 * and counts once in Redis as well.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startRedis, type TestServer } from '@test/support/stores'
import type { Payer, ReserveRequest } from '@/ledger/outcomes'
import type { RedisClient } from '@/ledger/store/connection'
import { recordsName, shardOf } from '@/ledger/store/names'
import { parseUsageRecord, type UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, request, settlement } from './harness'
import { createMemoryHistory, type MemoryHistory } from './memory-history'

const CREDIT = 1_000
const COST = 150

let server: TestServer
let redis: RedisClient
let bench: Bench
let history: MemoryHistory
let payer: Payer
let hold: ReserveRequest
/** What the flusher has read from the stream and not committed yet. */
let inHand: UsageRecord[]
/** Runs after the next search of the history for a charge, before its answer is acted on. */
let afterSearch: () => void | Promise<void>

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
afterEach(() => redis.disconnect())

/** A charge whose record is in a flusher's hands only, because the store was emptied. */
beforeEach(async () => {
  redis = await connect(server.url)
  const memory = createMemoryHistory()
  history = {
    ...memory,
    async knownRecordIds(ids) {
      const known = await memory.knownRecordIds(ids)
      const act = afterSearch
      afterSearch = () => undefined
      await act()
      return known
    },
  }
  afterSearch = () => undefined
  bench = createBench(redis, undefined, history)
  payer = await bench.fund(CREDIT)
  hold = request(payer, 400)
  await bench.ledger.reserve(hold)
  await bench.ledger.settle(settlement(hold, COST))
  const entries = await redis.xrange(recordsName(shardOf(payer.accountId)), '-', '+')
  inHand = entries.flatMap(([, fields]) => parseUsageRecord(fields) ?? [])
  expect(inHand).toHaveLength(1)
  await redis.flushall()
})

const commit = () => history.write(inHand)
const settleAgain = () => bench.ledger.settle(settlement(hold, COST), { force: true })

async function expectOneCharge(): Promise<void> {
  await history.flush(redis, [payer.accountId])
  const balance = { available: nano(CREDIT - COST), held: nano(0), spent: nano(COST) }
  expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject(balance)
  expect(await history.account(payer.accountId)).toMatchObject({ balance: nano(CREDIT - COST), spent: nano(COST) })
}

test('a settlement sent again is charged once if the flusher commits afterwards', async () => {
  expect(await settleAgain()).toMatchObject({ kind: 'settled' })
  commit()
  await expectOneCharge()
})

test('a settlement sent again is charged once if the flusher has committed before', async () => {
  commit()
  expect(await settleAgain()).toEqual({ kind: 'already_settled' })
  await expectOneCharge()
})

test('a settlement sent again is charged once if the flusher commits after the account was loaded', async () => {
  await bench.ledger.readBalance(payer.accountId)
  commit()
  expect(await settleAgain()).toEqual({ kind: 'already_settled' })
  await expectOneCharge()
})

test('a settlement sent again is charged once if the flusher commits after the search of the history', async () => {
  afterSearch = commit
  await settleAgain()
  await expectOneCharge()
})

test('a settlement sent again is charged once if, after the search of the history, the account is loaded again', async () => {
  afterSearch = async () => {
    commit()
    await bench.deps.restorer.account(payer.accountId, 'rebuild')
  }
  expect(await settleAgain()).toEqual({ kind: 'already_settled' })
  await expectOneCharge()
})

test('a settlement sent again is charged once if the store is emptied after the search of the history', async () => {
  afterSearch = async () => {
    commit()
    await redis.flushall()
  }
  expect(await settleAgain()).toEqual({ kind: 'already_settled' })
  await expectOneCharge()
})

test('a settlement sent again is charged once if, after the search, the store is emptied and the account loaded', async () => {
  afterSearch = async () => {
    commit()
    await redis.flushall()
    await bench.ledger.readBalance(payer.accountId)
  }
  expect(await settleAgain()).toEqual({ kind: 'already_settled' })
  await expectOneCharge()
})

test('settlements that are sent many times at once, while the flusher commits, count once', async () => {
  afterSearch = commit
  await Promise.all(Array.from({ length: 20 }, settleAgain))
  await expectOneCharge()
})
