/** Redis in trouble: dead, hanging, restarted, emptied, full, or with a wrong configuration. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { connectRedis, type RedisClient } from '@/ledger/store/connection'
import { accountName, LAYOUT, metaName, shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, FACTS, memoryLogger, passDeadline, request, settlement } from './harness'

const TIMEOUT_MS = 3_000
const FAR_MS = 900_000
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
afterEach(() => until(() => bench.redis.status === 'ready', 'the store to be back'))

/** Every name with its value, as DUMP gives it. */
async function dumpOf(redis: RedisClient): Promise<Map<string, Buffer | null>> {
  const names = (await redis.keys('*')).sort()
  return new Map(await Promise.all(names.map(async (name) => [name, await redis.dumpBuffer(name)] as const)))
}

const unavailable = { kind: 'overloaded', status: 503 }

describe('a Redis that is down', () => {
  test('a stopped Redis refuses calls at once; after its restart it has all figures', async () => {
    const payer = await bench.fund(1_000)
    const hold = request(payer, 400)
    await bench.ledger.reserve(hold)
    // Whoever waited for its time to run out would do so for longer than any test.
    const patient = createBench(await connect(server.url, FAR_MS))
    await server.kill()
    await until(() => patient.redis.status !== 'ready', 'the end of the connection to be seen')
    await expect(patient.ledger.reserve(request(payer, 1))).rejects.toMatchObject(unavailable)
    await expect(patient.ledger.settle(settlement(hold, 150))).rejects.toMatchObject(unavailable)
    await server.restart()
    patient.redis.disconnect()
    await until(() => bench.redis.status === 'ready')
    expect(await bench.ledger.settle(settlement(hold, 150))).toMatchObject({ kind: 'settled' })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(850), held: nano(0) })
  })

  test('after Redis restarted as another process, accounts are compared with Postgres before they pay', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 10))
    const before = bench.history.reads()
    await bench.ledger.reserve(request(payer, 10))
    expect(bench.history.reads()).toBe(before)
    await server.restart()
    await until(() => bench.redis.status === 'ready')
    expect(await bench.ledger.reserve(request(payer, 10))).toMatchObject({ kind: 'reserved', available: nano(970) })
    expect(bench.history.reads()).toBeGreaterThan(before)
    expect(bench.logger.lines.filter((line) => line.event === 'ledger_epoch_changed').length).toBeGreaterThan(1)
  })

  test('after Redis only lost its connections, accounts are not compared again', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 10))
    const before = bench.history.reads()
    bench.redis.disconnect(true)
    await until(() => bench.redis.status !== 'ready')
    await until(() => bench.redis.status === 'ready')
    expect(await bench.ledger.reserve(request(payer, 10))).toMatchObject({ kind: 'reserved', available: nano(980) })
    expect(bench.history.reads()).toBe(before)
  })

  test('if Redis was never reachable, every ledger call is refused', async () => {
    const redis = connectRedis('redis://127.0.0.1:1', { logger: memoryLogger(), commandTimeoutMs: TIMEOUT_MS })
    const lost = createBench(redis)
    const payer = await lost.fund(10)
    await expect(lost.ledger.reserve(request(payer, 1))).rejects.toMatchObject(unavailable)
    await expect(lost.ledger.expireDue(1)).rejects.toMatchObject(unavailable)
    await expect(lost.ledger.lookupKeyHash('0'.repeat(64))).rejects.toMatchObject(unavailable)
    redis.disconnect()
  })
})

describe('a Redis that hangs', () => {
  test('calls to a hanging Redis time out; a reserve that ran anyway is released by its id', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.readBalance(payer.accountId)
    const holds = Array.from({ length: 50 }, () => request(payer, 10))
    process.kill(server.pid, 'SIGSTOP')
    try {
      const outcomes = await Promise.allSettled(holds.map((hold) => bench.ledger.reserve(hold)))
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable })
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    await until(() => bench.redis.ping().catch(() => undefined), 'the store to answer')
    for (const hold of holds) {
      const outcome = await bench.ledger.release(hold)
      expect(['released', 'unknown_hold']).toContain(outcome)
      expect(await bench.ledger.reserve(hold)).toEqual({ kind: 'exists', state: 'released' })
    }
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(1_000), held: nano(0) })
  })
})

describe('a Redis that lost its scripts', () => {
  test('a Redis without its scripts gets them again, even during hundreds of calls', async () => {
    const payer = await bench.fund(1_000_000)
    const holds = Array.from({ length: 300 }, () => request(payer, 10))
    const work = holds.map(async (hold, index) => {
      if (index % 20 === 0) await bench.redis.script('FLUSH')
      expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
      if (index % 30 === 0) await bench.redis.script('FLUSH')
      expect(await bench.ledger.settle(settlement(hold, 1))).toMatchObject({ kind: 'settled' })
    })
    await Promise.all(work)
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(999_700), seq: 300 })
  })
})

describe('a Redis that was emptied', () => {
  test('an emptied Redis gives no free credit: accounts are reloaded, lost holds are charged', async () => {
    const payer = await bench.fund(1_000)
    const [done, open] = [request(payer, 100), request(payer, 400)]
    await bench.ledger.reserve(done)
    await bench.ledger.settle(settlement(done, 100))
    await bench.history.flush(bench.redis, [payer.accountId])
    await bench.ledger.reserve(open)
    await bench.redis.flushall()
    expect(await bench.ledger.reserve(request(payer, 901))).toMatchObject({
      kind: 'insufficient',
      available: nano(900),
    })
    expect(await bench.ledger.settle(settlement(open, 150))).toEqual({ kind: 'unknown_hold' })
    expect(await bench.ledger.settle(settlement(open, 150), { force: true })).toMatchObject({ kind: 'settled' })
    expect(await bench.ledger.settle(settlement(done, 100), { force: true })).toEqual({ kind: 'already_settled' })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(750), spent: nano(250) })
  })
})

describe('a Redis out of memory', () => {
  test('a Redis out of memory refuses reserves, but accepts settles, releases and credits', async () => {
    const payer = await bench.fund(1_000)
    const holds = [request(payer, 100), request(payer, 100), request(payer, 100), request(payer, 100)] as const
    for (const hold of holds) await bench.ledger.reserve(hold)
    await bench.redis.config('SET', 'maxmemory', '1')
    try {
      await expect(bench.ledger.reserve(request(payer, 1))).rejects.toMatchObject(unavailable)
      const progress = { ttlMs: 1_000, cost: nano(10), facts: FACTS, reached: true }
      expect(await bench.ledger.renew([{ ...payer, holdId: holds[2].holdId, ...progress }])).toEqual(['renewed'])
      expect(await bench.ledger.settle(settlement(holds[0], 40))).toMatchObject({ kind: 'settled' })
      expect(await bench.ledger.release(holds[1])).toBe('released')
      await bench.redis.config('SET', 'maxmemory', '0')
      await passDeadline(bench.redis, holds[2])
      await bench.redis.config('SET', 'maxmemory', '1')
      expect(await bench.ledger.expireDue(10)).toContainEqual({ ...payer, holdId: holds[2].holdId, cost: nano(10) })
      bench.history.addCredit(payer.accountId, 'entry_late', 500)
      const credit = { accountId: payer.accountId, entryId: 'entry_late', amount: nano(500) }
      expect(await bench.ledger.credit(credit)).toMatchObject({ kind: 'credited' })
    } finally {
      await bench.redis.config('SET', 'maxmemory', '0')
    }
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(1_350), held: nano(100) })
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
  })
})

describe('a Redis that the gateway refuses', () => {
  const fresh = async (): Promise<[Bench, RedisClient]> => {
    const redis = await connect(server.url)
    return [createBench(redis), redis]
  }

  test('a Redis with an evicting maxmemory policy is refused', async () => {
    const [other, redis] = await fresh()
    await redis.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru')
    await expect(other.ledger.verify()).rejects.toThrow('noeviction')
    const payer = await other.fund(10)
    await expect(other.ledger.reserve(request(payer, 1))).rejects.toThrow('noeviction')
    await redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
    await other.ledger.verify()
    expect(await other.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
    redis.disconnect()
  })

  test.each([
    ['a version before 1.0, in hashes', { shards: '64' }, 'a version before 1.0'],
    ['a version before 1.0, packed', { shards: '64 packed' }, 'a version before 1.0'],
    ['a newer version', { layout: '2' }, 'a newer version'],
  ])('a Redis written by %s is refused and not changed', async (_, words, said) => {
    const [, redis] = await fresh()
    await redis.flushall()
    for (const shard of ALL_SHARDS)
      await redis.hset(metaName(shard), { identity: 'before', epoch: '1760000000000-abcdefgh', ...words })
    await redis.hset(accountName('acct_before'), { status: 'active', available: '5' })
    const before = await dumpOf(redis)
    const [other, client] = await fresh()
    await expect(other.ledger.verify()).rejects.toThrow(`${said}, which this version cannot read. Nothing was changed`)
    await expect(other.ledger.reserve(request(await other.fund(10), 1))).rejects.toThrow(said)
    expect(await dumpOf(redis)).toEqual(before)
    for (const one of [redis, client]) one.disconnect()
  })

  test('a Redis emptied while gateways run gets its layout version again', async () => {
    const [other, redis] = await fresh()
    const payer = await other.fund(10)
    await redis.flushall()
    expect(await other.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
    const meta = metaName(shardOf(payer.accountId))
    expect(await redis.hget(meta, 'layout')).toBe(LAYOUT)
    redis.disconnect()
  })
})
