/** The flusher on real stores: each record is booked exactly once, whatever fails. Slow: killed workers and servers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { COMMAND_TIMEOUT_MS, freshDatabase, startPostgres, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Redis } from 'ioredis'
import { connectDatabase, type Database } from '@/db/client'
import { migrate } from '@/db/migrate'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { recordsName, SHARD_COUNT, shardOf } from '@/ledger/store/names'
import type { UsageRecord } from '@/ledger/usage-record'
import { createFlusher, type Flusher, type FlusherOptions } from '@/usage/flusher'
import { logRecorder } from './log-recorder'
import { appendRecords, streamFields, usageRecord } from './sample-records'
import { signalServer } from './signal-server'

let redisServer: TestServer
let redis: Redis
let databaseUrl: string
let database: Database
let flushers: Flusher[] = []
const log = logRecorder()

beforeEach(async () => {
  redisServer ??= await startRedis()
  redis ??= connectRedis(redisServer.url, { logger: log.logger, commandTimeoutMs: COMMAND_TIMEOUT_MS }) as Redis
  await waitForRedis(redis, PATIENCE_MS)
  await redis.flushall()
  log.clear()
  databaseUrl = await freshDatabase()
  database = connectDatabase(databaseUrl, { maxConnections: 2 })
  await database.sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'One', 'one@example.test')`
})
afterEach(async () => {
  await Promise.all(flushers.map((flusher) => flusher.stop()))
  flushers = []
  await database.close()
})
afterAll(async () => {
  redis.disconnect()
  await redisServer.stop()
})

describe('a flusher', () => {
  test('the flusher writes records of all shards to the books and empties the streams', async () => {
    const records = Array.from({ length: 900 }, (_, index) =>
      usageRecord({ accountId: `acct_${index % 150}`, cost: 10 + (index % 7), seq: index + 1 }),
    )
    await append(records)
    const flusher = start()
    await drained()
    expect(await booked()).toEqual({ records: 900, cost: sum(records) })
    expect(await streamLengths()).toBe(0)
    const status = { insertedRecords: 900, deadLetters: 0, lastError: undefined, healthy: true }
    expect(flusher.status()).toMatchObject(status)
  })

  test('the flusher creates the partitions of the months around today', async () => {
    start()
    await until(
      async () =>
        (await database.sql`SELECT 1 FROM pg_inherits WHERE inhparent = 'usage_records'::regclass`).length >= 5,
    )
  })

  test('the flusher reads later records, and reports the number of waiting ones', async () => {
    const flusher = start()
    for (const cost of [5, 6, 7]) {
      await append([usageRecord({ cost })])
      await drained()
    }
    expect(await booked()).toEqual({ records: 3, cost: 18 })
    await until(() => flusher.status().lagRecords === 0, 'the count of waiting events')
  })

  test('the flusher continues after Redis was emptied', async () => {
    start()
    await append([usageRecord({ cost: 1 })])
    await drained()
    await redis.flushall()
    await append([usageRecord({ cost: 2 })])
    await drained()
    expect(await booked()).toEqual({ records: 2, cost: 3 })
  })
})

describe('booking exactly once', () => {
  test('a worker that fails between commit and acknowledgement books no record twice', async () => {
    const records = Array.from({ length: 200 }, (_, index) => usageRecord({ cost: index }))
    await append(records)
    let failures = 3
    start({
      afterCommit: async () => {
        if (failures-- > 0) throw new Error('lost the connection after the commit')
      },
    })
    await drained()
    expect(failures).toBeLessThan(0)
    expect(await booked()).toEqual({ records: 200, cost: sum(records) })
  })

  test('a process killed between commit and acknowledgement books no record twice', async () => {
    const records = Array.from({ length: 50 }, (_, index) => usageRecord({ cost: index }))
    await append(records)
    const child = Bun.spawn(['bun', 'test/usage/killed-flusher.ts', redisServer.url, databaseUrl], { stderr: 'pipe' })
    expect(await child.exited).not.toBe(0)
    expect(child.signalCode).toBe('SIGKILL')
    const before = await booked()
    expect(before.records).toBeGreaterThan(0)
    expect(await streamLengths()).toBe(50)
    const flusher = start({ claimIdleMs: 50 })
    await drained()
    expect(await booked()).toEqual({ records: 50, cost: sum(records) })
    expect(flusher.status().insertedRecords).toBe(50 - before.records)
  })

  test('three workers that repeatedly take over from each other book every record once', async () => {
    const records = Array.from({ length: 600 }, (_, index) =>
      usageRecord({ accountId: `acct_${index % 20}`, keyId: `key_${index % 20}`, cost: index % 13 }),
    )
    const workers = [1, 2, 3].map(() => start({ claimIdleMs: 1, batchSize: 20, afterCommit: () => spend(2) }))
    for (let index = 0; index < records.length; index += 75) await append(records.slice(index, index + 75))
    await drained()
    expect(await booked()).toEqual({ records: 600, cost: sum(records) })
    const inserted = workers.reduce((total, worker) => total + worker.status().insertedRecords, 0)
    expect(inserted).toBe(600)
    const [days] =
      await database.sql`SELECT sum(requests)::integer AS requests, sum(cost_nano)::bigint AS cost FROM usage_daily`
    expect(days).toEqual({ requests: 600, cost: sum(records) })
  })
})

describe('records that cannot be booked', () => {
  test('entries that cannot be stored become dead letters; all others are booked', async () => {
    await database.sql`UPDATE accounts SET balance_nano = -8999999999999999`
    const good = Array.from({ length: 40 }, (_, index) => usageRecord({ accountId: 'acct_2', cost: index + 1 }))
    await append(good.slice(0, 20))
    await redis.xadd(recordsName(3), '*', 'no', 'event')
    await append([usageRecord({ holdId: 'hold_overflow', cost: 5_000 })])
    await append(good.slice(20))
    const flusher = start({ claimIdleMs: 20, maxDeliveries: 3 })
    await drained()
    expect(await booked()).toEqual({ records: 40, cost: sum(good) })
    const letters = await database.db.query.deadLetters.findMany({
      orderBy: (letter, { desc }) => desc(letter.recordId),
    })
    expect(letters).toMatchObject([
      {
        stream: recordsName(3),
        recordId: null,
        payload: '["no","event"]',
        error: 'not a usage record',
        isBooked: false,
      },
      { recordId: 'hold_overflow', accountId: 'acct_1', isBooked: false },
    ])
    expect(letters[1]?.error).toStartWith('23514')
    expect(flusher.status().deadLetters).toBe(2)
    expect(log.events('usage_record_not_stored').length).toBeGreaterThanOrEqual(4)
    expect(log.events('usage_record_dead_lettered')).toHaveLength(2)
  })

  test('the charge of an unreadable record is booked', async () => {
    const fields = streamFields(usageRecord({ holdId: 'hold_torn', cost: 77 }))
    const torn = String(fields[1]).slice(0, -5)
    await redis.xadd(recordsName(shardOf('acct_1')), '*', 'r', torn)
    start({ claimIdleMs: 10 })
    await drained()
    expect(await booked()).toEqual({ records: 1, cost: 77 })
    expect(await database.db.query.deadLetters.findMany()).toMatchObject([{ recordId: 'hold_torn', isBooked: true }])
  })
})

describe('a failing database', () => {
  let own: TestServer
  let count = 0

  beforeAll(async () => {
    // What was committed must survive the kill, as it does in production.
    own = await startPostgres({ settings: { synchronous_commit: 'on' } })
  })
  beforeEach(async () => {
    await database.close()
    database = connectDatabase(own.url, { maxConnections: 1 })
    const name = `flusher_${++count}`
    await database.sql.unsafe(`CREATE DATABASE ${name}`)
    await database.close()
    databaseUrl = own.url.replace(/[^/]+$/, name)
    await migrate(databaseUrl)
    database = connectDatabase(databaseUrl, { maxConnections: 2 })
  })
  afterAll(() => own.stop())

  test('if Postgres stops and returns, records wait and are booked once', async () => {
    const flusher = start()
    await append([usageRecord({ cost: 1 })])
    await drained()
    await own.kill()
    const records = Array.from({ length: 500 }, (_, index) => usageRecord({ cost: index }))
    await append(records)
    await until(() => !flusher.status().healthy && flusher.status().lagRecords === 500, 'the lag to be seen')
    await until(() => flusher.status().lagSeconds > 1, 'the oldest to wait for a second')
    expect(flusher.status().lastError).toBeDefined()
    expect(await streamLengths()).toBe(500)
    await own.restart()
    await drained()
    expect(await booked()).toEqual({ records: 501, cost: sum(records) + 1 })
    await until(() => flusher.status().healthy && flusher.status().lagSeconds === 0, 'health')
  })

  test('a hanging Postgres blocks neither the recovery nor a stop', async () => {
    const flusher = start({ transactionTimeoutMs: 1_000, stopTimeoutMs: 200 })
    const stuck = start({ transactionTimeoutMs: 900_000, stopTimeoutMs: 200 })
    await append([usageRecord({ cost: 1 })])
    await drained()
    await signalServer(own, 'SIGSTOP')
    try {
      await append(Array.from({ length: 400 }, () => usageRecord({ cost: 2 })))
      await until(() => flusher.status().lastError?.includes('no answer'), 'the hang to be noticed')
      // Its transaction would outlast this test.
      await stuck.stop()
    } finally {
      await signalServer(own, 'SIGCONT')
    }
    start({ claimIdleMs: 50 })
    await drained()
    expect(await booked()).toEqual({ records: 401, cost: 801 })
  })

  test('connections lost during batches book every record once', async () => {
    const records = Array.from({ length: 600 }, (_, index) =>
      usageRecord({ cost: index % 11, accountId: `acct_${index % 9}` }),
    )
    await append(records)
    // A statement that goes out as its connection ends may never be answered; the worker's own limit is what recovers it.
    start({ batchSize: 60, transactionTimeoutMs: 2_000, afterCommit: () => killConnections(own.url) })
    await drained()
    expect(await booked()).toEqual({ records: 600, cost: sum(records) })
  })
})

function start(options: Partial<FlusherOptions> = {}): Flusher {
  const url = databaseUrl
  const connect = () => connectDatabase(url, { maxConnections: 1, applicationName: 'flusher' })
  const flusher = createFlusher({ redis, connect, logger: log.logger, sweepMs: 50, ...options })
  flushers.push(flusher)
  flusher.start()
  return flusher
}

const append = (records: readonly UsageRecord[]) => appendRecords(redis, records)

async function drained(): Promise<void> {
  await until(async () => (await streamLengths()) === 0, 'the streams to be empty')
}

async function streamLengths(): Promise<number> {
  const lengths = await Promise.all(allStreams().map((name) => redis.xlen(name)))
  return lengths.reduce((total, length) => total + length, 0)
}

function allStreams(): string[] {
  return Array.from({ length: SHARD_COUNT }, (_, shard) => recordsName(shard))
}

async function booked(): Promise<{ records: number; cost: number }> {
  const [row] = await database.sql<{ records: number; cost: number }[]>`
    SELECT count(*) AS records, coalesce(sum(cost_nano), 0)::bigint AS cost FROM usage_records`
  return { records: row?.records ?? -1, cost: row?.cost ?? -1 }
}

function sum(records: readonly UsageRecord[]): number {
  return records.reduce((total, record) => total + record.cost, 0)
}

/** Ends every session but our own, as an administrator or a failing network would. */
async function killConnections(url: string): Promise<void> {
  const killer = connectDatabase(url, { maxConnections: 1 })
  await killer.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flusher'`
  await killer.close()
}
