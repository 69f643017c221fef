/** From hashes to packed strings and on to compact ones: gateways of two versions take turns, and what they hold, charge and remember is the same. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test'
import { testPreparedBy } from '@test/ledger/accounts/within-day'
import { type Bench, connect, createBench, FACTS, request, settlement, snapshot } from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { checkLedger } from '@/ledger/check/check'
import type { ReserveRequest } from '@/ledger/outcomes'
import { packLedger } from '@/ledger/pack'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { accountName, COMPACT_SHARDS, holdName, keyName, metaName, shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { PACKED_SHARDS, runScripts, type Version } from './older-scripts'

let server: TestServer
let bench: Bench

beforeAll(async () => {
  server = await startRedis()
})
beforeEach(prepare)
afterEach(() => {
  runScripts('newer')
  bench.redis.disconnect()
})
afterAll(() => server.stop())

/** Does `work` as a gateway of an older version would. */
async function asOlder<T>(work: () => Promise<T>, version: Version = 'hashed'): Promise<T> {
  runScripts(version)
  try {
    return await work()
  } finally {
    runScripts('newer')
  }
}

async function typesOf(hold: ReserveRequest): Promise<string> {
  const names = [accountName(hold.accountId), keyName(hold), holdName(hold.accountId, hold.holdId)]
  return (await Promise.all(names.map((name) => bench.redis.type(name)))).join(' ')
}

async function violations(): Promise<unknown[]> {
  return (await checkLedger({ redis: bench.redis, history: bench.history, logger: bench.logger })).violations
}

async function prepare(): Promise<void> {
  bench = createBench(await connect(server.url))
  await bench.redis.flushall()
  await asOlder(() => bench.ledger.verify())
}

const test = testPreparedBy(prepare)

describe('a store that an older version began', () => {
  test('stays in hashes while both versions serve, and after the newer one was taken back', async () => {
    const payer = await bench.fund(10_000, { requestsPerMinute: 5, monthlyBudget: nano(9_000) })
    const holds = Array.from({ length: 4 }, () => request(payer, 1_000)) as [
      ReserveRequest,
      ReserveRequest,
      ReserveRequest,
      ReserveRequest,
    ]
    const [first, second, third, fourth] = holds
    await asOlder(() => bench.ledger.reserve(first))
    await bench.ledger.reserve(second)
    await asOlder(() => bench.ledger.reserve(third))
    expect(await bench.ledger.settle(settlement(first, 100))).toMatchObject({ kind: 'settled', record: { seq: 1 } })
    const renewal = { accountId: payer.accountId, holdId: second.holdId, ttlMs: 60_000, cost: nano(7), facts: FACTS }
    await bench.ledger.renew([{ ...renewal, reached: true }])
    await asOlder(async () => {
      expect(await bench.ledger.settle(settlement(first, 100))).toEqual({ kind: 'already_settled' })
      expect(await bench.ledger.settle(settlement(second, 200))).toMatchObject({ kind: 'settled', record: { seq: 2 } })
      expect(await bench.ledger.release(third)).toBe('released')
      expect(await bench.ledger.reserve(fourth)).toMatchObject({ kind: 'reserved', limits: { requests: { limit: 5 } } })
      expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({
        available: 8_700,
        held: 1_000,
        spent: 300,
      })
      expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, held: 1_000, spentThisMonth: 300 })
    })
    expect(await typesOf(fourth)).toBe('hash hash hash')
    expect(await bench.redis.hget(metaName(shardOf(payer.accountId)), 'shards')).toBe('64')
    expect(await violations()).toEqual([])
  })

  test('is packed thing by thing once it is told so: each request finds what it left', async () => {
    const payer = await bench.fund(10_000, { requestsPerMinute: 3 })
    const [settled, open, fresh] = [request(payer, 1_000), request(payer, 1_000), request(payer, 1_000)]
    await asOlder(async () => {
      for (const hold of [settled, open]) await bench.ledger.reserve(hold)
      await bench.ledger.settle(settlement(settled, 100))
    })
    await packLedger(bench.redis)
    expect(await typesOf(open)).toBe('hash hash hash')
    expect(await bench.ledger.reserve(open)).toEqual({ kind: 'exists', state: 'open' })
    expect(await bench.ledger.reserve(settled)).toEqual({ kind: 'exists', state: 'settled' })
    expect(await bench.ledger.settle(settlement(settled, 100))).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.reserve(fresh)).toMatchObject({ kind: 'reserved', available: 7_900 })
    expect(await typesOf(fresh)).toBe('string string string')
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'rate_limited', scope: 'requests' })
    expect(await bench.ledger.settle(settlement(open, 200))).toMatchObject({ kind: 'settled', record: { seq: 2 } })
    expect(await bench.ledger.release(fresh)).toBe('released')
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: 9_700, held: 0, spent: 300 })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: 0, requestsPerMinute: 3 })
    expect(await violations()).toEqual([])
    await bench.history.flush(bench.redis, [payer.accountId])
    expect(bench.history.records(payer.accountId).map(({ cost }) => Number(cost))).toEqual([100, 200])
    expect(await violations()).toEqual([])
  })
})

/** Packs as the version did whose strings leave nothing out. */
async function packAsBefore(): Promise<void> {
  for (const shard of ALL_SHARDS) await bench.redis.hset(metaName(shard), 'shards', PACKED_SHARDS)
}

describe('a store that the version before has packed', () => {
  test('stays so while both versions serve, and after the newer one was taken back', async () => {
    await packAsBefore()
    const payer = await bench.fund(10_000, { requestsPerMinute: 5 })
    const holds = Array.from({ length: 3 }, () => request(payer, 1_000))
    const [first, second, third] = holds as [ReserveRequest, ReserveRequest, ReserveRequest]
    const asPacked = <T>(work: () => Promise<T>) => asOlder(work, 'packed')
    await asPacked(() => bench.ledger.reserve(first))
    await bench.ledger.reserve(second)
    expect(await bench.ledger.settle(settlement(first, 100))).toMatchObject({ kind: 'settled', record: { seq: 1 } })
    const renewal = { accountId: payer.accountId, holdId: second.holdId, ttlMs: 60_000, cost: nano(7), facts: FACTS }
    await bench.ledger.renew([{ ...renewal, reached: true }])
    await asPacked(async () => {
      expect(await bench.ledger.settle(settlement(first, 100))).toEqual({ kind: 'already_settled' })
      expect(await bench.ledger.settle(settlement(second, 200))).toMatchObject({ kind: 'settled', record: { seq: 2 } })
      expect(await bench.ledger.reserve(third)).toMatchObject({ kind: 'reserved', available: 8_700 })
      expect(await bench.ledger.release(third)).toBe('released')
      expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: 0, spentThisMonth: 300 })
    })
    expect(await bench.redis.get(accountName(payer.accountId))).toStartWith('active\0')
    expect(await violations()).toEqual([])
  })

  test('is compact thing by thing once it is told so: each request finds what it left', async () => {
    await packAsBefore()
    const payer = await bench.fund(10_000)
    const [settled, open, fresh] = [request(payer, 1_000), request(payer, 1_000), request(payer, 1_000)]
    await asOlder(async () => {
      for (const hold of [settled, open]) await bench.ledger.reserve(hold)
      await bench.ledger.settle(settlement(settled, 100))
    }, 'packed')
    await packLedger(bench.redis)
    expect(await bench.redis.get(accountName(payer.accountId))).toStartWith('active\0')
    expect(await bench.ledger.reserve(open)).toEqual({ kind: 'exists', state: 'open' })
    expect(await bench.ledger.reserve(settled)).toEqual({ kind: 'exists', state: 'settled' })
    expect(await bench.ledger.reserve(fresh)).toMatchObject({ kind: 'reserved', available: 7_900 })
    expect(await bench.redis.get(accountName(payer.accountId))).toStartWith('\x02')
    expect(await bench.ledger.settle(settlement(open, 200))).toMatchObject({ kind: 'settled', record: { seq: 2 } })
    expect(await bench.ledger.release(fresh)).toBe('released')
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: 9_700, held: 0, spent: 300 })
    expect(await violations()).toEqual([])
    await bench.history.flush(bench.redis, [payer.accountId])
    expect(bench.history.records(payer.accountId).map(({ cost, facts }) => [Number(cost), facts])).toEqual([
      [100, FACTS],
      [200, FACTS],
    ])
    expect(await violations()).toEqual([])
  })

  test('does not let that version start once it is compact, nor a gateway of it that still runs take or charge anything', async () => {
    const payer = await bench.fund(10_000)
    const [open, known] = [request(payer, 1_000), request(payer, 1_000)]
    await packLedger(bench.redis)
    await bench.ledger.reserve(open)
    const other = createBench(await connect(server.url))
    const before = await snapshot(bench.redis, payer.accountId)
    await asOlder(async () => {
      await expect(other.ledger.verify()).rejects.toThrow('another number of shards')
      const attempts = [
        () => bench.ledger.reserve(known),
        () => bench.ledger.settle(settlement(open, 100)),
        () => bench.ledger.release(open),
        () => bench.ledger.credit({ accountId: payer.accountId, entryId: 'entry', amount: nano(5) }),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow()
    }, 'packed')
    other.redis.disconnect()
    expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
  })
})

test('a compact store that a command of the version before has packed while no gateway ran serves the newer one, and becomes compact again', async () => {
  await packLedger(bench.redis)
  const payer = await bench.fund(10_000)
  const [open, settled, fresh] = [request(payer, 1_000), request(payer, 1_000), request(payer, 1_000)]
  for (const hold of [open, settled]) await bench.ledger.reserve(hold)
  await bench.ledger.settle(settlement(settled, 100))
  await packAsBefore()
  const before = await snapshot(bench.redis, payer.accountId)
  await asOlder(async () => {
    await expect(bench.ledger.reserve(fresh)).rejects.toThrow()
    await expect(bench.ledger.settle(settlement(open, 100))).rejects.toThrow()
  }, 'packed')
  expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
  await bench.ledger.verify()
  expect(await bench.ledger.reserve(fresh)).toMatchObject({ kind: 'reserved', available: 7_900 })
  expect(await bench.redis.get(accountName(payer.accountId))).toStartWith('active\0')
  expect(await bench.ledger.settle(settlement(open, 200))).toMatchObject({ kind: 'settled', record: { seq: 2 } })
  await packLedger(bench.redis)
  expect(await bench.ledger.settle(settlement(fresh, 300))).toMatchObject({ kind: 'settled', record: { seq: 3 } })
  expect(await violations()).toEqual([])
  await bench.history.flush(bench.redis, [payer.accountId])
  expect(bench.history.records(payer.accountId).map(({ cost, facts }) => [Number(cost), facts])).toEqual([
    [100, FACTS],
    [200, FACTS],
    [300, FACTS],
  ])
  expect(await violations()).toEqual([])
})

test('a store that nobody has used is compact from the beginning, and again where it was emptied', async () => {
  for (let round = 0; round < 2; round++) {
    await bench.redis.flushall()
    const { ledger, fund } = createBench(bench.redis, undefined, bench.history)
    const hold = request(await fund(1_000), 100)
    await ledger.verify()
    expect(await ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
    expect(await typesOf(hold)).toBe('string string string')
    expect(await bench.redis.get(accountName(hold.accountId))).toStartWith('\x02')
  }
})

describe('a gateway that knows hashes only', () => {
  test('does not start on a packed or compact store', async () => {
    await packLedger(bench.redis)
    const other = createBench(await connect(server.url))
    await asOlder(async () => {
      await expect(other.ledger.verify()).rejects.toThrow('another number of shards')
    })
    other.redis.disconnect()
    expect(await bench.redis.hget(metaName(0), 'shards')).toBe(COMPACT_SHARDS)
  })

  test('that still ran there would change nothing: it fails before its first write', async () => {
    const payer = await bench.fund(10_000)
    const [open, known] = [request(payer, 1_000), request(payer, 1_000)]
    await packLedger(bench.redis)
    await bench.ledger.reserve(open)
    const before = await snapshot(bench.redis, payer.accountId)
    await asOlder(async () => {
      const attempts = [
        () => bench.ledger.reserve(known),
        () => bench.ledger.settle(settlement(open, 100)),
        () => bench.ledger.release(open),
        () => bench.ledger.credit({ accountId: payer.accountId, entryId: 'entry', amount: nano(5) }),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow('WRONGTYPE')
    })
    expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
  })
})
