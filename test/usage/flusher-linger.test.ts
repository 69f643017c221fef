/** How long the flusher collects records: until a batch is large enough, or a time limit. Also what it sends to an idle Redis. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { connectDatabase } from '@/db/client'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { shardOf } from '@/ledger/store/names'
import { createFlusher, type FlusherOptions } from '@/usage/flusher'
import { logRecorder } from './log-recorder'
import { appendRecords, usageRecord } from './sample-records'

const BATCH = 10
const NEVER_MS = 3_600_000
const ROUND_TRIPS = 1_000
const SWEEPS = 20
const log = logRecorder()
let server: TestServer
let redis: RedisClient
let databaseUrl: string

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger: log.logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  databaseUrl = await freshDatabase()
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

/** A flusher whose own look at all streams lies behind it. */
async function started(lingerMs: number, batchSize = BATCH, more: Partial<FlusherOptions> = {}) {
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1 })
  const pace = { batchSize, lingerMs, sweepMs: NEVER_MS, ...more }
  const flusher = createFlusher({ redis, connect, logger: log.logger, ...pace })
  await redis.config('RESETSTAT')
  flusher.start()
  // Before there are groups, the first reading is refused.
  const firstRead = /cmdstat_xreadgroup:calls=(\d+),.*rejected_calls=0,failed_calls=(?!\1)/
  await until(async () => firstRead.test(await redis.info('commandstats')), 'the first look')
  return flusher
}

/** The first account of a shard. */
function accountIn(shard: number): string {
  for (let number = 0; ; number++) if (shardOf(`acct_${number}`) === shard) return `acct_${number}`
}

async function append(flusher: ReturnType<typeof createFlusher>, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await appendRecords(redis, [usageRecord({ accountId: 'acct_1' })])
    flusher.expect(shardOf('acct_1'))
  }
}

test('a small batch waits for more records, a full one is written at once, and a stop writes the rest', async () => {
  const flusher = await started(NEVER_MS)
  await append(flusher, BATCH - 1)
  for (let index = 0; index < ROUND_TRIPS; index++) await redis.ping()
  expect(flusher.status().insertedRecords).toBe(0)
  await append(flusher, 1)
  await until(() => flusher.status().insertedRecords >= BATCH, 'the batch')
  await append(flusher, 3)
  await flusher.stop()
  expect(flusher.status().insertedRecords).toBe(BATCH + 3)
})

test('if a stream has more than its share, the rest is written at once', async () => {
  const flusher = await started(NEVER_MS, 100)
  const records = ALL_SHARDS.flatMap((shard) => {
    const accountId = accountIn(shard)
    return Array.from({ length: shard === 0 ? 40 : 1 }, () => usageRecord({ accountId }))
  })
  await appendRecords(redis, records)
  for (const { accountId } of records) flusher.expect(shardOf(accountId))
  await until(() => flusher.status().insertedRecords === records.length, 'all of them')
  await flusher.stop()
})

test('a small batch waits for more records only for a limited time', async () => {
  const flusher = await started(20)
  await append(flusher, 3)
  await until(() => flusher.status().insertedRecords === 3, 'what gathered')
  await flusher.stop()
})

test('after a large batch, the next records are collected for longer', async () => {
  const flusher = await started(20, BATCH, { busyLingerMs: NEVER_MS, manyRecords: BATCH })
  await appendRecords(
    redis,
    Array.from({ length: BATCH }, () => usageRecord({ accountId: 'acct_1' })),
  )
  for (let index = 0; index < BATCH; index++) flusher.expect(shardOf('acct_1'))
  await until(() => flusher.status().insertedRecords >= BATCH, 'the batch of many')
  await append(flusher, 3)
  for (let index = 0; index < ROUND_TRIPS; index++) await redis.ping()
  expect(flusher.status().insertedRecords).toBe(BATCH)
  await flusher.stop()
  expect(flusher.status().insertedRecords).toBe(BATCH + 3)
})

test('a long stream is read in several steps and written as one batch', async () => {
  const records = Array.from({ length: 2_500 }, () => usageRecord({ accountId: 'acct_1' }))
  await appendRecords(redis, records)
  const batches: number[] = []
  const afterCommit = async (written: readonly unknown[]) => void batches.push(written.length)
  const flusher = await started(NEVER_MS, 3_000, { afterCommit })
  flusher.expect(shardOf('acct_1'))
  await flusher.stop()
  expect(batches.filter((size) => size > 0)).toEqual([2_500])
})

test('without records, the flusher only asks Redis for new records and waiting ones', async () => {
  await redis.flushall()
  await redis.config('RESETSTAT')
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1 })
  const pace = { claimIdleMs: 1, lingerMs: 1, sweepMs: 5 }
  const flusher = createFlusher({ redis, connect, logger: log.logger, ...pace })
  flusher.start()
  const sweeps = async () => Number(/cmdstat_xreadgroup:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  await until(async () => (await sweeps()) >= SWEEPS, 'sweeps, each with a look at what was abandoned')
  // How long the oldest record waits is told without asking for it, where there is none.
  expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(xrange|xlen|xinfo)/)
  expect(flusher.status()).toMatchObject({ lagRecords: 0, lagSeconds: 0 })
  await flusher.stop()
})
