/** The ledger's record streams on a real Redis: reading many together, expected records, and one damaged stream. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { COMMAND_TIMEOUT_MS, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import { appendRecords, usageRecord } from '@test/usage/sample-records'
import type { Redis } from 'ioredis'
import { createRecordStreams, type RecordStreams, type StreamEntry } from '@/ledger/records/record-streams'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { CONSUMER_GROUP, recordsName, shardOf } from '@/ledger/store/names'

let server: TestServer
let redis: Redis
let streams: RecordStreams

beforeAll(async () => {
  server = await startRedis()
  redis = connectRedis(server.url, { logger: silentLogger, commandTimeoutMs: COMMAND_TIMEOUT_MS }) as Redis
  await waitForRedis(redis, PATIENCE_MS)
})
beforeEach(async () => {
  await redis.flushall()
  streams = createRecordStreams(redis)
  // Makes the groups and learns the epochs, as a worker's first look does.
  await streams.readNew(100, 'all')
  await redis.config('RESETSTAT')
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('all record streams of one Redis server are read in one command', async () => {
  await append(['acct_a', 'acct_b', 'acct_c'])
  const { entries } = await streams.readNew(100, 'all')
  expect(accounts(entries)).toEqual(['acct_a', 'acct_b', 'acct_c'])
  expect(await calls('xreadgroup')).toBe(1)
})

test('only streams with expected records are read, once each', async () => {
  await append(['acct_a', 'acct_b'])
  streams.expect(shardOf('acct_b'))
  expect(streams.hasExpected()).toBe(true)
  expect(accounts((await streams.readNew(100, 'expected')).entries)).toEqual(['acct_b'])
  expect(streams.hasExpected()).toBe(false)
})

test('without expected records no command is sent to Redis', async () => {
  await append(['acct_a'])
  expect((await streams.readNew(100, 'expected')).entries).toEqual([])
  expect(await calls('xreadgroup')).toBe(0)
})

test('a record stream that returned a full batch is read again at once', async () => {
  await append(Array.from({ length: 40 }, () => 'acct_a'))
  streams.expect(shardOf('acct_a'))
  expect((await streams.readNew(30, 'expected')).entries).toHaveLength(30)
  expect(streams.hasExpected()).toBe(true)
  expect((await streams.readNew(30, 'expected')).entries).toHaveLength(10)
  expect(streams.hasExpected()).toBe(false)
})

test('a read of all record streams takes few records of each; the next read follows at once', async () => {
  await append(Array.from({ length: 40 }, () => 'acct_a'))
  expect((await streams.readNew(2_000, 'all')).entries).toHaveLength(16)
  expect((await streams.readNew(2_000, 'expected')).entries).toHaveLength(24)
})

test('a Redis key of the wrong type is reported, skipped for a moment, and blocks no other stream', async () => {
  const [bad = '', good = ''] = [recordsName(shardOf('acct_a')), 'acct_b']
  await redis.set(bad, 'not a stream')
  await append([good])
  const first = await streams.readNew(100, 'all')
  expect(accounts(first.entries)).toEqual([good])
  expect(String(first.failure)).toContain('WRONGTYPE')
  // On a busy machine the moment may be over before the next look.
  await until(async () => (await streams.readNew(100, 'all')).failure === undefined, 'a look that leaves it alone')
})

test('records are still expected after a failed read', async () => {
  const closed = connectRedis(server.url, { logger: silentLogger, commandTimeoutMs: COMMAND_TIMEOUT_MS }) as Redis
  await waitForRedis(closed, PATIENCE_MS)
  const cut = createRecordStreams(closed)
  closed.disconnect()
  cut.expect(7)
  await expect(cut.readNew(100, 'expected')).rejects.toThrow()
  await cut.readNew(100, 'expected').catch(() => undefined)
  expect(cut.hasExpected()).toBe(true)
})

test('consumer groups are created again after Redis was emptied', async () => {
  await redis.flushall()
  await append(['acct_a'])
  expect(accounts((await streams.readNew(100, 'all')).entries)).toEqual(['acct_a'])
})

describe('unacknowledged records', () => {
  let other: RecordStreams
  beforeEach(() => {
    other = createRecordStreams(redis)
  })
  async function look(minIdleMs = 0, limit = 10): Promise<string[]> {
    await other.count()
    const { entries, failure } = await other.takeAbandoned(minIdleMs, limit)
    expect(failure).toBeUndefined()
    return entries.map(({ id }) => id)
  }
  const read = async () => (await streams.readNew(100, 'all')).entries

  test('unacknowledged records are taken over at the second check, until they are acknowledged', async () => {
    await append(['acct_a', 'acct_a'])
    const entries = await read()
    const ids = entries.map(({ id }) => id)
    expect(ids).toHaveLength(2)
    expect(await look()).toEqual([])
    for (let again = 0; again < 2; again++) expect(await look()).toEqual(ids)
    expect(await streams.acknowledge(entries.slice(0, 1))).toBeUndefined()
    expect(await look()).toEqual(ids.slice(1))
  })

  test('unacknowledged records stay with the worker that took them after the last check, and with readers of new records', async () => {
    await append(['acct_a'])
    const [first] = await read()
    await look()
    await append(['acct_a'])
    await read()
    await append(['acct_a'])
    expect(await look()).toEqual([first?.id ?? ''])
    expect(await read()).toHaveLength(1)
  })

  test('unacknowledged records stay with their worker for the given time', async () => {
    await append(['acct_a'])
    await read()
    for (let again = 0; again < 3; again++) expect(await look(3_600_000)).toEqual([])
  })

  test('unacknowledged records arrive in parts, and completely', async () => {
    await append(Array.from({ length: 10 }, () => 'acct_a'))
    const ids = (await read()).map(({ id }) => id)
    await look()
    const taken: string[] = []
    while (taken.length < ids.length) {
      const part = await look(0, 4)
      expect(part.length).toBeGreaterThan(0)
      taken.push(...part)
      await redis.xdel(recordsName(shardOf('acct_a')), ...part)
    }
    expect(taken).toEqual(ids)
  })

  test('unacknowledged records are also taken over if the consumer group or the stream was recreated', async () => {
    await append(['acct_a'])
    await read()
    await look()
    await redis.xgroup('DESTROY', recordsName(shardOf('acct_a')), CONSUMER_GROUP)
    expect(await look()).toHaveLength(1)
    await other.count()
    await redis.flushall()
    expect((await other.takeAbandoned(0, 10)).failure).toBeUndefined()
  })

  test('Redis keeps no list of pending records', async () => {
    await append(['acct_a', 'acct_b'])
    await read()
    for (const account of ['acct_a', 'acct_b'])
      expect(await redis.xpending(recordsName(shardOf(account)), CONSUMER_GROUP)).toEqual([0, null, null, null])
  })
})

function append(accountIds: readonly string[]): Promise<void> {
  return appendRecords(
    redis,
    accountIds.map((accountId) => usageRecord({ accountId })),
  )
}

function accounts(entries: readonly StreamEntry[]): string[] {
  const shards = new Map(['acct_a', 'acct_b', 'acct_c'].map((accountId) => [shardOf(accountId), accountId]))
  expect(shards.size).toBe(3)
  expect(entries.every(({ shard }) => ALL_SHARDS.includes(shard))).toBe(true)
  return entries.map(({ shard }) => shards.get(shard) ?? 'another').sort()
}

/** How often the store was asked `command` since the last reset of its statistics. */
async function calls(command: string): Promise<number> {
  const statistics = await redis.info('commandstats')
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(statistics)?.[1] ?? 0)
}

test('acknowledging records of many shards takes one script', async () => {
  await append(['acct_a'])
  // The store learns the script by its first use.
  await streams.acknowledge((await streams.readNew(100, 'all')).entries)
  await append(['acct_a', 'acct_b', 'acct_c', 'acct_d'])
  const { entries } = await streams.readNew(100, 'all')
  await redis.config('RESETSTAT')
  expect(await streams.acknowledge(entries)).toBeUndefined()
  expect((await streams.count()).records).toBe(0)
  expect(await calls('evalsha')).toBe(1)
})

test('acknowledging more records than one command takes removes all of them', async () => {
  await append(Array.from({ length: 4_500 }, () => 'acct_a'))
  const { entries } = await streams.readNew(5_000 * ALL_SHARDS.length, 'all')
  expect(entries).toHaveLength(16)
  streams.expect(shardOf('acct_a'))
  const rest = await streams.readNew(10_000, 'expected')
  expect(await streams.acknowledge([...entries, ...rest.entries])).toBeUndefined()
  expect((await streams.count()).records).toBe(0)
})

test('a Redis key of the wrong type blocks no other acknowledgement, and is reported', async () => {
  await append(['acct_a', 'acct_b', 'acct_c'])
  const { entries } = await streams.readNew(100, 'all')
  await redis.set(recordsName(shardOf('acct_b')), 'none')
  expect(await streams.acknowledge(entries)).toBeInstanceOf(Error)
  expect((await streams.count()).records).toBe(0)
})
