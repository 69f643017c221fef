/** Reads usage records from the ledger's 64 streams, with any number of workers. A record stays until it is acknowledged. */

import { Cluster, ReplyError } from 'ioredis'
import { ALL_SHARDS, shardGroups } from '@/ledger/store/all-shards'
import { commandTimeoutOf, keyPrefixOf, type RedisClient } from '@/ledger/store/connection'
import { readEpoch } from '@/ledger/store/epoch'
import { CONSUMER_GROUP, recordsName } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import type { StoreCallListener } from '@/ledger/store-calls'
import { takeOut } from './acknowledge'

/** An entry of a shard's `stream`; `fields` alternates names and values. */
export type StreamEntry = { shard: number; stream: string; id: string; fields: string[] }

/** The result of reading several streams. */
export type ReadResult = {
  entries: StreamEntry[]
  /** The error of the failed shards, if others succeeded. A failed shard is skipped for a moment. */
  failure: unknown
}

export interface RecordStreams {
  /** Call it when a record was appended to this shard's stream, so that the next read includes the stream. */
  expect(shard: number): void
  /** Whether a stream returned as many entries as requested, so that there may be more. */
  hasMore(): boolean
  /** Whether a stream has, or may have, entries that no worker has read. */
  hasExpected(): boolean
  /**
   * Reads about `limit` unread entries: of streams reported by `expect`, or of `all` streams, to find other gateways' entries. A stream
   * that returned as many as requested stays expected. Throws if no stream can be read.
   */
  readNew(limit: number, from: 'expected' | 'all'): Promise<ReadResult>
  /**
   * Takes over entries that a worker read but did not acknowledge within `minIdleMs`. The first call remembers how far workers have read in
   * a stream; a later call takes the entries before that point.
   */
  takeAbandoned(minIdleMs: number, limitPerShard: number): Promise<ReadResult>
  /** Acknowledges and deletes entries. Those of a failed shard are delivered again. Returns the errors, if any. */
  acknowledge(entries: readonly StreamEntry[]): Promise<unknown>
  /** Unacknowledged entries in all reachable streams, and the names of the streams that have some. */
  count(): Promise<{ records: number; streams: string[] }>
  /** When the oldest entry of these streams was appended, in milliseconds since 1970 by the time in Redis; undefined without entries. */
  oldestMs(streams: readonly string[]): Promise<number | undefined>
}

/** Minimum entries to request from one stream. If no stream expects entries, all are read, and this is also the maximum. */
const LEAST_COUNT = 16
const SHARD_RETRY_MS = 1_000

type Shard = {
  shard: number
  stream: string
  retryAtMs: number
  /** The last entry that any worker had read, and when that was seen, in ms of `performance.now()`. */
  taken?: { id: string; seenMs: number }
}

/** Creates the reader of all streams. No command blocks, so `redis` may be shared. `onCall` is called for every acknowledgement. */
export function createRecordStreams(redis: RedisClient, onCall?: StoreCallListener): RecordStreams {
  const shards: Shard[] = ALL_SHARDS.map((shard) => ({ shard, stream: recordsName(shard), retryAtMs: 0 }))
  const expected = new Set<number>()
  let filled = new Set<string>()
  let isMoreLeft = false
  /** Each shard's epoch, read before the first of its unacknowledged records. */
  const epochs = new Map<number, string | null>()
  const acknowledgement = { redis, runner: createScriptRunner(redis, commandTimeoutOf(redis), onCall), epochs }

  async function noteEpochs(asked: readonly Shard[]): Promise<void> {
    const unknown = asked.filter(({ shard }) => !epochs.has(shard))
    await Promise.all(unknown.map(async ({ shard }) => epochs.set(shard, await readEpoch(redis, shard))))
  }

  /** Runs `command` for each shard; the client pipelines commands of one tick for the same node. */
  async function onShards(
    asked: readonly Shard[],
    command: (shard: Shard) => Promise<RawEntry[]>,
  ): Promise<ReadResult> {
    const answers = await Promise.allSettled(
      asked.map(async (shard) => {
        await noteEpochs([shard])
        return command(shard)
      }),
    )
    const result: ReadResult = { entries: [], failure: undefined }
    let failures = 0
    for (const [index, answer] of answers.entries()) {
      const shard = asked[index] as Shard
      if (answer.status === 'fulfilled') collect(result, shard, answer.value)
      else {
        failures += 1
        result.failure = answer.reason
        expected.add(shard.shard)
        shard.retryAtMs = performance.now() + SHARD_RETRY_MS
      }
    }
    if (failures > 0) findNodes(redis)
    if (failures > 0 && failures === asked.length) throw result.failure
    return result
  }

  /** Reads all streams with one command on one server. Undefined if one stream makes it fail. */
  async function readTogether(asked: readonly Shard[], count: number): Promise<ReadResult | undefined> {
    const names = asked.map(({ stream }) => stream)
    const byName = new Map(asked.map((shard) => [shard.stream, shard]))
    try {
      await noteEpochs(asked)
      const result: ReadResult = { entries: [], failure: undefined }
      for (const [name, entries] of await readGroup(redis, names, count)) {
        const shard = byName.get(name)
        if (shard) collect(result, shard, entries)
      }
      return result
    } catch (error) {
      if (error instanceof ReplyError) return undefined
      throw error
    }
  }

  async function read(asked: readonly Shard[], count: number): Promise<ReadResult> {
    const together = redis instanceof Cluster ? undefined : await readTogether(asked, count)
    return together ?? onShards(asked, async ({ stream }) => (await readGroup(redis, [stream], count))[0]?.[1] ?? [])
  }

  function willing(numbers: Iterable<number>): Shard[] {
    const now = performance.now()
    return [...numbers].flatMap((number) => shards[number] ?? []).filter(({ retryAtMs }) => retryAtMs <= now)
  }

  return {
    expect: (shard) => expected.add(shard),
    hasMore: () => isMoreLeft,
    hasExpected: () => expected.size > 0,
    async readNew(limit, from) {
      isMoreLeft = false
      const asked = willing(from === 'all' ? ALL_SHARDS : expected)
      if (asked.length === 0) return { entries: [], failure: undefined }
      const share = Math.max(LEAST_COUNT, Math.ceil(limit / Math.max(1, expected.size)))
      const count = from === 'all' && expected.size === 0 ? LEAST_COUNT : share
      // Removed before the read, so that a record that arrives meanwhile is expected again.
      for (const { shard } of asked) expected.delete(shard)
      const result = await read(asked, count).catch((error) => {
        for (const { shard } of asked) expected.add(shard)
        throw error
      })
      const sizes = new Map<number, number>()
      for (const { shard } of result.entries) sizes.set(shard, (sizes.get(shard) ?? 0) + 1)
      const full = [...sizes].flatMap(([shard, size]) => (size >= count ? [shard] : []))
      for (const shard of full) expected.add(shard)
      isMoreLeft = full.length > 0
      return result
    },
    takeAbandoned(minIdleMs, limitPerShard) {
      const asked = willing(ALL_SHARDS).filter(({ stream }) => filled.has(stream))
      return onShards(asked, async (shard) => {
        const nowMs = performance.now()
        const { taken } = shard
        if (taken && nowMs - taken.seenMs < minIdleMs) return []
        const entries = taken ? await redis.xrange(shard.stream, '-', taken.id, 'COUNT', limitPerShard) : []
        // After a full page there may be more entries before `taken`, so `taken` stays for the next call.
        if (entries.length < limitPerShard) shard.taken = { id: await lastTaken(redis, shard.stream), seenMs: nowMs }
        return entries
      })
    },
    async acknowledge(entries) {
      const failure = await takeOut(acknowledgement, entries)
      if (failure !== undefined) findNodes(redis)
      return failure
    },
    async count() {
      const streams = await findFilled(redis)
      filled = new Set(streams)
      const lengths = await Promise.all(streams.map((stream) => redis.xlen(stream).catch(() => 0)))
      return { records: lengths.reduce((sum, length) => sum + length, 0), streams }
    },
    async oldestMs(streams) {
      const first = (stream: string) => redis.xrange(stream, '-', '+', 'COUNT', 1).catch(() => [])
      const times = (await Promise.all(streams.map(first))).flatMap((entries) => entries.map(([id]) => appendedMs(id)))
      return times.length === 0 ? undefined : Math.min(...times)
    },
  }
}

/** The reachable streams with entries. Uses one command if one server has all streams. */
async function findFilled(redis: RedisClient): Promise<string[]> {
  const filled = shardGroups(redis).map(async (group) => {
    const names = group.map(recordsName)
    try {
      return await readFirst(redis, names)
    } catch {
      // One invalid stream can make the command fail for all.
      return (await Promise.all(names.map((name) => readFirst(redis, [name]).catch(() => [])))).flat()
    }
  })
  return (await Promise.all(filled)).flat()
}

async function readFirst(redis: RedisClient, names: readonly string[]): Promise<string[]> {
  const starts = names.map(() => '0')
  const answer = (await redis.xread('COUNT', 1, 'STREAMS', ...names, ...starts)) ?? []
  const prefixChars = keyPrefixOf(redis).length
  return answer.map(([name]) => name.slice(prefixChars))
}

/** When an entry was appended, in milliseconds since 1970 by the time in Redis. */
export function appendedMs(entryId: string): number {
  return Number(entryId.slice(0, entryId.indexOf('-')))
}

/** Refreshes a cluster's slots: the client follows redirections only for single commands, but reads are pipelined. */
function findNodes(redis: RedisClient): void {
  if (redis instanceof Cluster) redis.refreshSlotsCache()
}

function collect(result: ReadResult, { shard, stream }: Shard, entries: readonly RawEntry[]): void {
  for (const [id, fields] of entries) result.entries.push({ shard, stream, id, fields })
}

const CONSUMER = 'flusher'

type RawEntry = [id: string, fields: string[]]

/**
 * Reads up to `count` new entries of each stream in one command; streams without new entries are omitted. With `NOACK`, Redis keeps no list
 * of pending entries, which would cost 225 bytes of its append-only file per entry. An entry stays in its stream until it is in Postgres.
 */
async function readGroup(
  redis: RedisClient,
  streams: readonly string[],
  count: number,
): Promise<[stream: string, entries: RawEntry[]][]> {
  const positions = streams.map(() => '>')
  const read = () =>
    redis.xreadgroup('GROUP', CONSUMER_GROUP, CONSUMER, 'COUNT', count, 'NOACK', 'STREAMS', ...streams, ...positions)
  const answer = ((await withGroup(redis, streams, read)) ?? []) as [string, RawEntry[]][]
  const prefixChars = keyPrefixOf(redis).length
  return answer.map(([stream, entries]) => [stream.slice(prefixChars), entries])
}

/** The id of the last entry that the group has read from a stream; the lowest id without a group. */
async function lastTaken(redis: RedisClient, stream: string): Promise<string> {
  const groups = (await redis.xinfo('GROUPS', stream).catch((error) => {
    if (error instanceof ReplyError && error.message.includes('no such key')) return []
    throw error
  })) as (string | number | null)[][]
  const group = groups.find((fields) => fields[fields.indexOf('name') + 1] === CONSUMER_GROUP)
  return String(group?.[group.indexOf('last-delivered-id') + 1] ?? '0-0')
}

/** Runs `command`, and creates the group first if missing: in a new or emptied Redis. */
async function withGroup<T>(redis: RedisClient, streams: readonly string[], command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOGROUP')) throw error
  }
  await Promise.all(streams.map((stream) => createGroup(redis, stream)))
  return await command()
}

async function createGroup(redis: RedisClient, stream: string): Promise<void> {
  try {
    await redis.xgroup('CREATE', stream, CONSUMER_GROUP, '0', 'MKSTREAM')
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('BUSYGROUP')) throw error
  }
}
