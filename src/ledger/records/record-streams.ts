/**
 * The way of usage records out of the ledger: its 64 streams, read as one consumer group by any number of workers, on one Redis
 * or on a cluster. A record leaves its stream when it is acknowledged, and never before.
 */
import { Cluster } from 'ioredis'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import type { RedisClient } from '@/ledger/store/connection'
import { readEpoch, startEpoch } from '@/ledger/store/epoch'
import { CONSUMER_GROUP, metaName, recordsName } from '@/ledger/store/names'

/** One entry of one shard's stream, which `stream` names; `fields` alternates names and values. */
export type StreamEntry = { shard: number; stream: string; id: string; fields: string[] }

type ReadResult = {
  entries: StreamEntry[]
  /** Entries that were in the group's hands but are no longer in the stream: somebody has trimmed it, and records are lost. */
  lost: number
  /** What some shards failed with, while the others went on. Such a shard is left alone for a moment. */
  failure: unknown
}

interface RecordStreams {
  /** Takes about `limit` entries that no worker has taken yet. Throws where no shard at all can be read. */
  readNew(limit: number): Promise<ReadResult>
  /** Takes over entries that a worker took at least `minIdleMs` ago and never acknowledged. */
  claimAbandoned(minIdleMs: number, limitPerShard: number): Promise<ReadResult>
  /** Acknowledges and deletes; entries of a shard that fails are delivered again. Returns what failed, if anything did. */
  acknowledge(entries: readonly StreamEntry[]): Promise<unknown>
  /** How often the entry was handed to a worker; 0 where its shard doesn't answer. */
  deliveryCount(entry: StreamEntry): Promise<number>
  /** Entries in all streams that answer: not yet acknowledged by anybody. */
  length(): Promise<number>
}

/**
 * All workers share one consumer name. Each new entry still goes to one worker only, abandoned ones are found by how long
 * they have been idle, and no names of dead processes pile up.
 */
const CONSUMER = 'flusher'
/** What an idle shard is asked for: more would only matter if all shards woke up at once. */
const IDLE_SHARD_COUNT = 16
const SHARD_RETRY_MS = 1_000

type Shard = { shard: number; stream: string; wasActive: boolean; retryAtMs: number }
type RawEntry = [id: string, fields: string[] | null]

/** The streams in `redis`. No command blocks, so the connection may be shared. */
export function createRecordStreams(redis: RedisClient): RecordStreams {
  const shards: Shard[] = ALL_SHARDS.map((shard) => ({
    shard,
    stream: recordsName(shard),
    wasActive: false,
    retryAtMs: 0,
  }))
  /** Of each shard, its epoch before anything of it was taken that is still in hand. */
  const epochs = new Map<number, string | null>()

  async function read(shard: Shard, command: (shard: Shard) => Promise<RawEntry[]>): Promise<RawEntry[]> {
    if (!epochs.has(shard.shard)) epochs.set(shard.shard, await readEpoch(redis, shard.shard))
    return withGroup(redis, shard.stream, () => command(shard))
  }

  /** Runs `command` on every shard at once; the client puts commands of one tick for one node on the wire together. */
  async function onShards(command: (shard: Shard) => Promise<RawEntry[]>): Promise<ReadResult> {
    const now = performance.now()
    const asked = shards.filter((shard) => shard.retryAtMs <= now)
    const answers = await Promise.allSettled(asked.map((shard) => read(shard, command)))
    const result: ReadResult = { entries: [], lost: 0, failure: undefined }
    let failures = 0
    for (const [index, answer] of answers.entries()) {
      const shard = asked[index] as Shard
      if (answer.status === 'rejected') {
        failures += 1
        result.failure = answer.reason
        shard.retryAtMs = performance.now() + SHARD_RETRY_MS
        continue
      }
      for (const [id, fields] of answer.value) {
        if (fields === null) result.lost += 1
        else result.entries.push({ shard: shard.shard, stream: shard.stream, id, fields })
      }
    }
    if (failures > 0) findNodes(redis)
    if (failures > 0 && failures === asked.length) throw result.failure
    return result
  }

  return {
    readNew(limit) {
      const active = shards.filter((shard) => shard.wasActive).length
      const share = Math.max(IDLE_SHARD_COUNT, Math.ceil(limit / Math.max(1, active)))
      return onShards(async (shard) => {
        const { stream } = shard
        const count = shard.wasActive ? share : IDLE_SHARD_COUNT
        const answer = await redis.xreadgroup('GROUP', CONSUMER_GROUP, CONSUMER, 'COUNT', count, 'STREAMS', stream, '>')
        const entries = (answer as [string, RawEntry[]][] | null)?.[0]?.[1] ?? []
        shard.wasActive = entries.length > 0
        return entries
      })
    },
    claimAbandoned(minIdleMs, limitPerShard) {
      return onShards(async ({ stream }) => {
        const claim = redis.xautoclaim(stream, CONSUMER_GROUP, CONSUMER, minIdleMs, '0-0', 'COUNT', limitPerShard)
        const [, entries, deleted = []] = (await claim) as [string, RawEntry[], string[]?]
        return [...entries, ...deleted.map((id): RawEntry => [id, null])]
      })
    },
    async acknowledge(entries) {
      const byShard = Map.groupBy(entries, (entry) => entry.shard)
      const work = [...byShard].map(([shard, own]) => acknowledgeShard(redis, epochs, shard, own))
      const answers = await Promise.allSettled(work)
      const failed = answers.find((answer) => answer.status === 'rejected')
      if (failed) findNodes(redis)
      return failed?.reason
    },
    async deliveryCount({ stream, id }) {
      const pending = await redis.xpending(stream, CONSUMER_GROUP, id, id, 1).catch(() => [])
      const [entry] = pending as [string, string, number, number][]
      return entry?.[3] ?? 0
    },
    async length() {
      const lengths = await Promise.all(shards.map((shard) => redis.xlen(shard.stream).catch(() => 0)))
      return lengths.reduce((sum, length) => sum + length, 0)
    },
  }
}

/**
 * Asks a cluster anew which node serves which shard. Its client follows a redirection of a single command only, while these
 * commands travel together with others.
 */
function findNodes(redis: RedisClient): void {
  if (redis instanceof Cluster) redis.refreshSlotsCache()
}

/**
 * Both or neither: an entry that is acknowledged but not deleted would stay in the stream for ever. Where one is no longer
 * there, another worker took it over and was faster, or it was lost with the store's memory, which changes the epoch. Then
 * accounts may have been loaded before the history had its charge: a further epoch has them compared once more.
 */
async function acknowledgeShard(
  redis: RedisClient,
  epochs: Map<number, string | null>,
  shard: number,
  entries: readonly StreamEntry[],
): Promise<void> {
  const stream = recordsName(shard)
  const ids = entries.map((entry) => entry.id)
  const answers = await redis
    .multi()
    .xack(stream, CONSUMER_GROUP, ...ids)
    .xdel(stream, ...ids)
    .hget(metaName(shard), 'epoch')
    .exec()
  const failure = answers?.find(([error]) => error !== null)
  if (!answers || failure) throw failure?.[0] ?? new Error('the acknowledgement was not executed')
  const [, [, deleted] = [], [, epoch] = []] = answers
  if (deleted === ids.length || epoch === epochs.get(shard)) return
  epochs.delete(shard)
  await startEpoch(redis, shard)
}

/** Runs `command`, and makes the group first where there is none yet: on a new store, or on one that came back empty. */
async function withGroup<T>(redis: RedisClient, stream: string, command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOGROUP')) throw error
  }
  try {
    await redis.xgroup('CREATE', stream, CONSUMER_GROUP, '0', 'MKSTREAM')
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('BUSYGROUP')) throw error
  }
  return await command()
}
