/** Detecting that Redis was emptied or replaced while its connections stay open. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect, createBench, memoryLogger, request, settlement } from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import type { RedisClient } from '@/ledger/store/connection'
import { createEpochGuard, startEpochs } from '@/ledger/store/epoch-guard'
import { metaName } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import { nano } from '@/lib/money'

const SHARD = 7
const OTHER_SHARD = 8

let server: TestServer
let redis: RedisClient

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  redis = await connect(server.url)
  await redis.flushall()
})
afterEach(() => redis.disconnect())

function createGuard() {
  const logger = memoryLogger()
  const runner = createScriptRunner(redis, 2_000)
  const guard = createEpochGuard(redis, runner, logger)
  let returns = 0
  guard.onReturn(() => returns++)
  const verifications = () => logger.lines.filter(({ event }) => event === 'ledger_epoch_changed').length
  return { guard, runner, returns: () => returns, verifications }
}

const epochNow = (shard: number) => redis.hget(metaName(shard), 'epoch')

describe('checking the epochs', () => {
  test('checking an unchanged Redis changes nothing', async () => {
    const { guard, returns } = createGuard()
    await guard.ensure(SHARD)
    const epoch = await epochNow(SHARD)
    await Promise.all([guard.doubt(SHARD), guard.doubt(OTHER_SHARD), guard.doubt(SHARD)])
    await guard.ensure(SHARD)
    expect([returns(), await epochNow(SHARD)]).toEqual([0, epoch])
  })

  test('checking before any account was verified changes nothing', async () => {
    const { guard, returns } = createGuard()
    await guard.doubt(SHARD)
    expect(returns()).toBe(0)
  })

  test('checking an emptied Redis starts a new epoch in every shard, and reports it once', async () => {
    const { guard, returns, verifications } = createGuard()
    await guard.ensure(SHARD)
    await redis.flushall()
    await Promise.all(Array.from({ length: 40 }, () => guard.doubt(SHARD)))
    expect(returns()).toBe(1)
    await guard.ensure(OTHER_SHARD)
    await until(() => verifications() === 2, 'the second verification to be told')
    expect(await epochNow(OTHER_SHARD)).toBeString()
    await guard.doubt(SHARD)
    await guard.doubt(OTHER_SHARD)
    expect(returns()).toBe(1)
  })

  test('a new epoch that another client started is also reported', async () => {
    const [one, other] = [createGuard(), createGuard()]
    await one.guard.ensure(SHARD)
    await other.guard.ensure(SHARD)
    await redis.flushall()
    await other.guard.doubt(SHARD)
    await other.guard.ensure(SHARD)
    await one.guard.doubt(SHARD)
    await one.guard.doubt(SHARD)
    expect([one.returns(), other.returns()]).toEqual([1, 1])
    const epoch = await epochNow(SHARD)
    await one.guard.ensure(SHARD)
    expect(await epochNow(SHARD)).toBe(epoch)
  })

  test('an epoch started on request is also reported', async () => {
    const { guard, runner, returns } = createGuard()
    await guard.ensure(SHARD)
    await startEpochs(redis, runner)
    await guard.doubt(SHARD)
    expect(returns()).toBe(1)
  })
})

describe('a Redis that was emptied during a connection', () => {
  test('the first look-up of a missing account detects an emptied Redis before any request is charged', async () => {
    const { ledger, history, fund } = createBench(redis)
    const payer = await fund(1_000)
    let returns = 0
    ledger.onStoreReturn(() => returns++)
    const hold = request(payer, 300)
    await ledger.reserve(hold)
    await ledger.settle(settlement(hold, 300))
    await history.flush(redis, [payer.accountId])
    await redis.flushall()
    expect(await ledger.reserve(request(payer, 800))).toMatchObject({ kind: 'insufficient', available: nano(700) })
    expect(returns).toBe(1)
    expect(await ledger.reserve(request(payer, 700))).toMatchObject({ kind: 'reserved' })
    expect(returns).toBe(1)
  })
})
