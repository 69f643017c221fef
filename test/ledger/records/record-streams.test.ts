/** The ledger's record streams against a real store: what is read together, what is expected, and what one bad stream may spoil. */

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

test('all streams of one server are read in a single command', async () => {
  await append(['acct_a', 'acct_b', 'acct_c'])
  const { entries } = await streams.readNew(100, 'all')
  expect(accounts(entries)).toEqual(['acct_a', 'acct_b', 'acct_c'])
  expect(await calls('xreadgroup')).toBe(1)
})

test('only streams where something is expected are read, and once', async () => {
  await append(['acct_a', 'acct_b'])
  streams.expect(shardOf('acct_b'))
  expect(streams.hasExpected()).toBe(true)
  expect(accounts((await streams.readNew(100, 'expected')).entries)).toEqual(['acct_b'])
  expect(streams.hasExpected()).toBe(false)
})

test('where nothing is expected, the store is not asked', async () => {
  await append(['acct_a'])
  expect((await streams.readNew(100, 'expected')).entries).toEqual([])
  expect(await calls('xreadgroup')).toBe(0)
})

test('a stream that gave as much as it was asked for is expected to hold more', async () => {
  await append(Array.from({ length: 40 }, () => 'acct_a'))
  streams.expect(shardOf('acct_a'))
  expect((await streams.readNew(30, 'expected')).entries).toHaveLength(30)
  expect(streams.hasExpected()).toBe(true)
  expect((await streams.readNew(30, 'expected')).entries).toHaveLength(10)
  expect(streams.hasExpected()).toBe(false)
})

test('a look at all streams takes little of each, and comes back at once for the rest', async () => {
  await append(Array.from({ length: 40 }, () => 'acct_a'))
  expect((await streams.readNew(2_000, 'all')).entries).toHaveLength(16)
  expect((await streams.readNew(2_000, 'expected')).entries).toHaveLength(24)
})

test('a stream that is none spoils no other, is said, and is left alone for a moment', async () => {
  const [bad = '', good = ''] = [recordsName(shardOf('acct_a')), 'acct_b']
  await redis.set(bad, 'not a stream')
  await append([good])
  const first = await streams.readNew(100, 'all')
  expect(accounts(first.entries)).toEqual([good])
  expect(String(first.failure)).toContain('WRONGTYPE')
  // On a busy machine the moment may be over before the next look.
  await until(async () => (await streams.readNew(100, 'all')).failure === undefined, 'a look that leaves it alone')
})

test('what could not be read stays expected', async () => {
  const closed = connectRedis(server.url, { logger: silentLogger, commandTimeoutMs: COMMAND_TIMEOUT_MS }) as Redis
  await waitForRedis(closed, PATIENCE_MS)
  const cut = createRecordStreams(closed)
  closed.disconnect()
  cut.expect(7)
  await expect(cut.readNew(100, 'expected')).rejects.toThrow()
  await cut.readNew(100, 'expected').catch(() => undefined)
  expect(cut.hasExpected()).toBe(true)
})

test('groups come back with a store that came back empty', async () => {
  await redis.flushall()
  await append(['acct_a'])
  expect(accounts((await streams.readNew(100, 'all')).entries)).toEqual(['acct_a'])
})

describe('what a worker took and did not acknowledge', () => {
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

  test('another takes over at its second look, again and again, until it is acknowledged', async () => {
    await append(['acct_a', 'acct_a'])
    const entries = await read()
    const ids = entries.map(({ id }) => id)
    expect(ids).toHaveLength(2)
    expect(await look()).toEqual([])
    for (let again = 0; again < 2; again++) expect(await look()).toEqual(ids)
    expect(await streams.acknowledge(entries.slice(0, 1))).toBeUndefined()
    expect(await look()).toEqual(ids.slice(1))
  })

  test('what a worker took and did not acknowledge is left to who took it after the look before, and to those who read what nobody took', async () => {
    await append(['acct_a'])
    const [first] = await read()
    await look()
    await append(['acct_a'])
    await read()
    await append(['acct_a'])
    expect(await look()).toEqual([first?.id ?? ''])
    expect(await read()).toHaveLength(1)
  })

  test('what a worker took and did not acknowledge is left to it for as long as is said', async () => {
    await append(['acct_a'])
    await read()
    for (let again = 0; again < 3; again++) expect(await look(3_600_000)).toEqual([])
  })

  test('comes in parts, and all of it comes', async () => {
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

  test('what a worker took and did not acknowledge is taken over from a stream whose group is gone, and from one that came back empty', async () => {
    await append(['acct_a'])
    await read()
    await look()
    await redis.xgroup('DESTROY', recordsName(shardOf('acct_a')), CONSUMER_GROUP)
    expect(await look()).toHaveLength(1)
    await other.count()
    await redis.flushall()
    expect((await other.takeAbandoned(0, 10)).failure).toBeUndefined()
  })

  test('what a worker took and did not acknowledge is noted by nobody: the store writes no list of it', async () => {
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

test('whatever the shards, all that is acknowledged leaves by one script', async () => {
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

test('more of one stream than one command takes leaves it all the same', async () => {
  await append(Array.from({ length: 4_500 }, () => 'acct_a'))
  const { entries } = await streams.readNew(5_000 * ALL_SHARDS.length, 'all')
  expect(entries).toHaveLength(16)
  streams.expect(shardOf('acct_a'))
  const rest = await streams.readNew(10_000, 'expected')
  expect(await streams.acknowledge([...entries, ...rest.entries])).toBeUndefined()
  expect((await streams.count()).records).toBe(0)
})

test('a stream that is none keeps no other from being acknowledged, and is told of', async () => {
  await append(['acct_a', 'acct_b', 'acct_c'])
  const { entries } = await streams.readNew(100, 'all')
  await redis.set(recordsName(shardOf('acct_b')), 'none')
  expect(await streams.acknowledge(entries)).toBeInstanceOf(Error)
  expect((await streams.count()).records).toBe(0)
})
