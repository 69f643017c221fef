/** Carries usage records from the ledger's streams into the history: at least once by delivery, exactly once by effect. */
import { Cluster } from 'ioredis'
import type { Database } from '@/db/client'
import { DatabaseTimeoutError, withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import { createRecordStreams, type StreamEntry } from '@/ledger/records/record-streams'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreCallListener } from '@/ledger/store-calls'
import type { UsageRecord } from '@/ledger/usage-record'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { buryEntry } from './dead-letters'
import { ensurePartitions } from './partitions'
import { createRecordLag } from './record-lag'
import { type Suspect, storeEntries } from './store-entries'
import { writeUsageBatch } from './write-batch'

export type FlusherOptions = {
  redis: RedisClient
  /** Opens a pool that is the flusher's own: it closes it when the server hangs, and opens another. */
  connect: () => Database
  logger: Logger
  /** Records per transaction, about; so many of this process's own don't wait for others. */
  batchSize?: number
  /** Entries that a worker took this long ago and never acknowledged are taken over. */
  claimIdleMs?: number
  /** Deliveries after which an entry that can't be stored becomes a dead letter. */
  maxDeliveries?: number
  /** How long records gather at most before they are read, in milliseconds: the larger a batch, the cheaper each of its records. */
  lingerMs?: number
  /** How often all streams are looked at, for what other gateways left; default 1,000 ms, and 5,000 on a cluster or while nothing comes. */
  sweepMs?: number
  /** A transaction without an answer for this long counts as failed, and its connection as hung. */
  transactionTimeoutMs?: number
  stopTimeoutMs?: number
  /** Told of every acknowledgement that the store was sent. */
  onCall?: StoreCallListener
  /** For fault tests: runs after the commit and before the acknowledgement. What it throws counts as a failed batch. */
  afterCommit?: (records: readonly UsageRecord[]) => Promise<void>
}

export type FlusherStatus = {
  /** Entries that had not been acknowledged at the last count: at most about a second ago, or ten while nothing comes. */
  lagRecords: number
  /** How long the oldest of them has been waiting, as far as this flusher can tell; 0 where it knows of none. */
  lagSeconds: number
  /** What went wrong last, or undefined where all is well again. Holds no data. */
  lastError: string | undefined
  healthy: boolean
  /** Since the start of this flusher. */
  insertedRecords: number
  deadLetters: number
}

/** Its stop carries what this process has appended, up to `stopTimeoutMs`; the rest is delivered again. */
export interface Flusher extends BackgroundWorker {
  /** A record was appended in this shard: it is carried within `lingerMs` and a transaction. To be called at every one. */
  expect(shard: number): void
  status(): FlusherStatus
}

const DEFAULTS = {
  batchSize: 2_000,
  claimIdleMs: 30_000,
  maxDeliveries: 3,
  lingerMs: 1_000,
  transactionTimeoutMs: 8_000,
  stopTimeoutMs: 5_000,
  afterCommit: async () => {},
} satisfies Partial<FlusherOptions>

/** One command for all streams of a server, but one for each stream of a cluster. */
const SWEEP_MS = 1_000
const CLUSTER_SWEEP_MS = 5_000
const QUIET_SWEEP_MS = 5_000
const SWEEP_JITTER = 0.25
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
const COUNT_INTERVAL_MS = 1_000
/** While nothing comes, nothing is left over and nothing has failed. */
const QUIET_COUNT_INTERVAL_MS = 10_000
/** What a worker abandons is in its stream, and so in the count: while that says nothing, it is looked for this much less often. */
const QUIET_CLAIM_FACTOR = 16
/** A failure is shown for at least this long: a shard that is down is asked only now and then. */
const TROUBLE_MS = 2_500
const CLAIM_PER_SHARD = 200

/** One worker: reads a batch, writes it in one transaction, acknowledges it. A failed batch is kept and retried. */
export function createFlusher(options: FlusherOptions): Flusher {
  const { redis, connect, logger, ...settings } = { ...DEFAULTS, ...options }
  const streams = createRecordStreams(redis, options.onCall)
  const lag = createRecordLag()
  const status: Omit<FlusherStatus, 'healthy' | 'lagSeconds'> = {
    lagRecords: 0,
    lastError: undefined,
    insertedRecords: 0,
    deadLetters: 0,
  }
  const loop = createWorkerLoop({ round, lastRound, onFailure: recover, stopTimeoutMs: settings.stopTimeoutMs })
  let database: Database | undefined
  let failuresInARow = 0
  const sweepMs = settings.sweepMs ?? (redis instanceof Cluster ? CLUSTER_SWEEP_MS : SWEEP_MS)
  const quietSweepMs = settings.sweepMs ?? QUIET_SWEEP_MS
  let nextSweepAt = 0
  let inHand: StreamEntry[] = []
  /** Records that this process has appended since its last read. */
  let appended = 0
  let claimedAt = Number.NEGATIVE_INFINITY
  let claimPauseMs = 0
  let countedAt = Number.NEGATIVE_INFINITY
  let nextPartitionsAt = 0
  let troubleUntil = 0
  let isAbandoned = false

  async function round(): Promise<number> {
    await handleBatch()
    if (failuresInARow > 0) logger.info('flusher_recovered', { failures: failuresInARow })
    failuresInARow = 0
    if (performance.now() > troubleUntil) status.lastError = undefined
    // A stream with more than its share of a batch may fall behind for ever where it has to wait for the next one.
    if (streams.hasMore() || appended >= settings.batchSize) return 0
    return streams.hasExpected() ? settings.lingerMs : Math.max(settings.lingerMs, nextSweepAt - performance.now())
  }

  /** All that gathers still. A round that finds nothing has been to every stream that answers. */
  async function lastRound(): Promise<void> {
    while (!isAbandoned && (inHand.length > 0 || streams.hasExpected())) if ((await handleBatch()) === 0) return
  }

  async function handleBatch(): Promise<number> {
    await upkeep()
    if (inHand.length === 0) inHand = await readBatch()
    const entries = inHand
    if (entries.length > 0) await flush(entries)
    inHand = []
    lag.carried()
    return entries.length
  }

  /** What fails here fails before anything was read, so that a dead database keeps the entries in their streams. */
  async function upkeep(): Promise<void> {
    const now = performance.now()
    if (now >= countedAt + (isQuiet() ? QUIET_COUNT_INTERVAL_MS : COUNT_INTERVAL_MS)) {
      countedAt = now
      const waiting = await streams.count()
      status.lagRecords = waiting.records
      await lag.look(waiting.streams, streams.oldestMs)
    }
    if (now >= nextPartitionsAt || status.lastError !== undefined) {
      nextPartitionsAt = (await bounded(ensurePartitions(usable().sql, logger))) + performance.now()
    }
  }

  function isQuiet(): boolean {
    const isDone = status.lagRecords === 0 && inHand.length === 0 && !streams.hasExpected()
    return isDone && status.lastError === undefined
  }

  async function readBatch(): Promise<StreamEntry[]> {
    const isClaimDue = performance.now() >= claimedAt + claimPauseMs * (isQuiet() ? QUIET_CLAIM_FACTOR : 1)
    if (isClaimDue) {
      claimedAt = performance.now()
      claimPauseMs = settings.claimIdleMs * (0.25 + Math.random() * 0.25)
    }
    const isSweepDue = performance.now() >= nextSweepAt
    if (isSweepDue) nextSweepAt = performance.now() + jittered(isQuiet() ? quietSweepMs : sweepMs, SWEEP_JITTER)
    const endRead = lag.reading()
    appended = 0
    let entries: StreamEntry[] | undefined
    try {
      const results = [
        await streams.readNew(settings.batchSize, isSweepDue ? 'all' : 'expected'),
        ...(isClaimDue ? [await streams.claimAbandoned(settings.claimIdleMs, CLAIM_PER_SHARD)] : []),
      ]
      for (const { failure, lost } of results) {
        if (failure !== undefined) noteFailure(failure)
        if (lost > 0) logger.error('usage_records_lost', { count: lost })
      }
      entries = results.flatMap((result) => result.entries)
      return entries
    } finally {
      endRead(entries, streams.hasExpected())
    }
  }

  async function flush(entries: readonly StreamEntry[]): Promise<void> {
    const { stored, suspects, inserted, records } = await storeEntries(write, entries)
    status.insertedRecords += inserted
    await settings.afterCommit(records)
    await acknowledge(stored)
    for (const suspect of suspects) await handleSuspect(suspect)
  }

  function write(records: readonly UsageRecord[]): Promise<number> {
    return bounded(writeUsageBatch(usable().sql, records))
  }

  /** What can't be acknowledged now is delivered again and found to be stored: no reason to hold up the other shards. */
  async function acknowledge(entries: readonly StreamEntry[]): Promise<void> {
    const failure = await streams.acknowledge(entries)
    if (failure !== undefined) noteFailure(failure)
  }

  /** An entry that no worker can store is put aside after some deliveries: a newer worker may understand what this one doesn't. */
  async function handleSuspect(suspect: Suspect): Promise<void> {
    const { entry, record, reason } = suspect
    const deliveries = await streams.deliveryCount(entry)
    const details = { shard: entry.shard, entryId: entry.id, recordId: record?.recordId, reason, deliveries }
    if (deliveries < settings.maxDeliveries) {
      logger.warn('usage_record_not_stored', details)
      return
    }
    const isBooked = await bounded(buryEntry(usable().sql, suspect))
    await acknowledge([entry])
    status.deadLetters += 1
    logger.error('usage_record_dead_lettered', { ...details, isBooked })
  }

  async function recover(error: unknown, failures: number): Promise<number> {
    failuresInARow = failures
    noteFailure(error)
    logger.warn('flusher_failed', { reason: status.lastError, failures })
    if (error instanceof DatabaseTimeoutError) await dropConnections()
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (failures - 1))
    return backoffMs * (0.5 + Math.random() / 2)
  }

  function noteFailure(error: unknown): void {
    status.lastError = describeFailure(error)
    troubleUntil = performance.now() + TROUBLE_MS
  }

  function usable(): Database {
    database ??= connect()
    return database
  }

  async function dropConnections(): Promise<void> {
    const hung = database
    database = undefined
    await hung?.close(0)
  }

  function bounded<T>(work: Promise<T>): Promise<T> {
    return withDatabaseDeadline(work, settings.transactionTimeoutMs)
  }

  return {
    start: loop.start,
    expect(shard) {
      streams.expect(shard)
      lag.expected()
      appended += 1
      loop.hurry(appended < settings.batchSize ? settings.lingerMs : 0)
    },
    async stop() {
      await loop.stop()
      isAbandoned = true
      await dropConnections()
    },
    status: () => ({ ...status, lagSeconds: lag.seconds(), healthy: status.lastError === undefined }),
  }
}
