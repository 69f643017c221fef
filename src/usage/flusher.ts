import { Cluster } from 'ioredis'
import type { Database } from '@/db/client'
import { DatabaseTimeoutError, withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import {
  createRecordStreams,
  type ReadResult,
  type RecordStreams,
  type StreamEntry,
} from '@/ledger/records/record-streams'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreCallListener } from '@/ledger/store-calls'
import type { UsageRecord } from '@/ledger/usage-record'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered, type WorkerLoop } from '@/lib/worker-loop'
import { buryEntry } from './dead-letters'
import { ensurePartitions } from './partitions'
import { createRecordLag } from './record-lag'
import { type Suspect, storeEntries } from './store-entries'
import { writeUsageBatch } from './write-batch'

export type FlusherOptions = {
  redis: RedisClient
  /** Opens the flusher's own pool. If the server hangs, the flusher closes the pool and opens another. */
  connect: () => Database
  logger: Logger
  /** Approximate records per transaction. As soon as this process has appended so many, it writes them. */
  batchSize?: number
  /** Entries that a worker read but did not acknowledge for this long are taken over. */
  claimIdleMs?: number
  /** Maximum attempts to store an entry before it becomes a dead letter. */
  maxDeliveries?: number
  /** Maximum milliseconds to collect records before reading. */
  lingerMs?: number
  /** The longest wait after at least `manyRecords`: larger batches are cheaper per record. Redis may lose the records that still wait. */
  busyLingerMs?: number
  manyRecords?: number
  /** Interval of checking all streams for records of other gateways; default 1,000 ms, and 5,000 on a cluster or while idle. */
  sweepMs?: number
  /** After this time without an answer a transaction has failed, and its connection hangs. */
  transactionTimeoutMs?: number
  stopTimeoutMs?: number
  /** Called for every acknowledgement sent to Redis. */
  onCall?: StoreCallListener
  /** For fault tests: runs after the commit and before the acknowledgement. An error counts as a failed batch. */
  afterCommit?: (records: readonly UsageRecord[]) => Promise<void>
}

export type FlusherStatus = {
  /** Unacknowledged entries at the last count, at most a second ago, or ten seconds while idle. */
  lagRecords: number
  /** The known age of the oldest record; 0 if none is known. */
  lagSeconds: number
  /** The last error; undefined if all is well again. Contains no data. */
  lastError: string | undefined
  healthy: boolean
  /** Since the start of this flusher. */
  insertedRecords: number
  deadLetters: number
}

/** A stop writes this process's records for `stopTimeoutMs` at most. Unwritten records are delivered again. */
export interface Flusher extends BackgroundWorker {
  /** Call it for every record appended to this shard: it is written after `lingerMs` at most, or `busyLingerMs`. */
  expect(shard: number): void
  status(): FlusherStatus
}

const DEFAULTS = {
  batchSize: 8_000,
  claimIdleMs: 30_000,
  maxDeliveries: 3,
  lingerMs: 1_000,
  busyLingerMs: 2_000,
  manyRecords: 500,
  transactionTimeoutMs: 8_000,
  stopTimeoutMs: 5_000,
  afterCommit: async () => {},
} satisfies Partial<FlusherOptions>

type Settings = FlusherOptions & Required<Pick<FlusherOptions, keyof typeof DEFAULTS>>

/** Maximum records to read at once, so that Redis and this process can do other work in between. */
const READ_SIZE = 1_000
/** Intervals of checking all streams. One server needs one command, a cluster needs a command for each stream. */
const SWEEP_MS = 1_000
const CLUSTER_SWEEP_MS = 5_000
const QUIET_SWEEP_MS = 5_000
const SWEEP_JITTER = 0.25
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
const COUNT_INTERVAL_MS = 1_000
/** The interval while no record arrives, waits or has failed. */
const QUIET_COUNT_INTERVAL_MS = 10_000
/** An error is shown for at least this long, since an unavailable shard is tried only at intervals. */
const TROUBLE_MS = 2_500
const CLAIM_PER_SHARD = 200
/** Maximum entries whose failed attempts are counted. Beyond it, the oldest count is forgotten. */
const MAX_SUSPECTS = 10_000

/** Moves usage records from the ledger's streams to Postgres, a transaction each batch. Delivered at least once, booked exactly once. */
export function createFlusher(options: FlusherOptions): Flusher {
  return new RecordFlusher({ ...DEFAULTS, ...options })
}

class RecordFlusher implements Flusher {
  private readonly streams: RecordStreams
  private readonly lag = createRecordLag()
  private readonly state: Omit<FlusherStatus, 'healthy' | 'lagSeconds'> = {
    lagRecords: 0,
    lastError: undefined,
    insertedRecords: 0,
    deadLetters: 0,
  }
  private readonly loop: WorkerLoop
  private readonly logger: Logger
  private readonly sweepMs: number
  private readonly quietSweepMs: number
  private database: Database | undefined
  private failuresInARow = 0
  private nextSweepAt = 0
  private inHand: StreamEntry[] = []
  private gatherMs: number
  private readonly deliveries = createBoundedMap<string, number>(MAX_SUSPECTS)
  private appended = 0
  private claimedAt = Number.NEGATIVE_INFINITY
  private claimPauseMs = 0
  private countedAt = Number.NEGATIVE_INFINITY
  private nextPartitionsAt = 0
  private troubleUntil = 0
  private isAbandoned = false

  constructor(private readonly settings: Settings) {
    const { redis, logger, onCall, sweepMs, stopTimeoutMs } = settings
    this.streams = createRecordStreams(redis, onCall)
    this.logger = logger
    this.gatherMs = settings.lingerMs
    this.sweepMs = sweepMs ?? (redis instanceof Cluster ? CLUSTER_SWEEP_MS : SWEEP_MS)
    this.quietSweepMs = sweepMs ?? QUIET_SWEEP_MS
    this.loop = createWorkerLoop({
      round: () => this.round(),
      lastRound: () => this.lastRound(),
      onFailure: (error, failures) => this.recover(error, failures),
      stopTimeoutMs,
    })
  }

  start(): void {
    this.loop.start()
  }

  expect(shard: number): void {
    this.streams.expect(shard)
    this.lag.expected()
    this.appended += 1
    this.loop.hurry(this.appended < this.settings.batchSize ? this.gatherMs : 0)
  }

  async stop(): Promise<void> {
    await this.loop.stop()
    this.isAbandoned = true
    await this.dropConnections()
  }

  status(): FlusherStatus {
    return { ...this.state, lagSeconds: this.lag.seconds(), healthy: this.state.lastError === undefined }
  }

  private async round(): Promise<number> {
    await this.handleBatch()
    if (this.failuresInARow > 0) this.logger.info('flusher_recovered', { failures: this.failuresInARow })
    this.failuresInARow = 0
    if (performance.now() > this.troubleUntil) this.state.lastError = undefined
    // A stream with more than its share of a batch would fall behind if it had to wait.
    if (this.streams.hasMore() || this.appended >= this.settings.batchSize) return 0
    return this.streams.hasExpected() ? this.gatherMs : Math.max(this.gatherMs, this.nextSweepAt - performance.now())
  }

  /** Writes all collected records. Done when no reachable stream has any. */
  private async lastRound(): Promise<void> {
    while (!this.isAbandoned && (this.inHand.length > 0 || this.streams.hasExpected()))
      if ((await this.handleBatch()) === 0) return
  }

  private async handleBatch(): Promise<number> {
    await this.upkeep()
    if (this.inHand.length === 0) await this.readBatch()
    const entries = this.inHand
    if (entries.length > 0) await this.flush(entries)
    this.inHand = []
    this.lag.carried()
    const { lingerMs, busyLingerMs, manyRecords } = this.settings
    this.gatherMs = entries.length < manyRecords ? lingerMs : busyLingerMs
    return entries.length
  }

  /** Counts waiting records and creates partitions if due. Throws if Postgres is down, so that no record is read then. */
  private async upkeep(): Promise<void> {
    const now = performance.now()
    if (now >= this.countedAt + (this.isQuiet() ? QUIET_COUNT_INTERVAL_MS : COUNT_INTERVAL_MS)) {
      this.countedAt = now
      const waiting = await this.streams.count()
      this.state.lagRecords = waiting.records
      await this.lag.look(waiting.streams, this.streams.oldestMs)
    }
    if (now >= this.nextPartitionsAt || this.state.lastError !== undefined) {
      this.nextPartitionsAt = (await this.bounded(ensurePartitions(this.usable().sql, this.logger))) + performance.now()
    }
  }

  private isQuiet(): boolean {
    const isDone = this.state.lagRecords === 0 && this.inHand.length === 0 && !this.streams.hasExpected()
    return isDone && this.state.lastError === undefined
  }

  /** Entries that were read are kept even if a later read fails, because no worker gets them again soon. */
  private async readBatch(): Promise<void> {
    const isClaimDue = performance.now() >= this.claimedAt + this.claimPauseMs
    if (isClaimDue) {
      this.claimedAt = performance.now()
      this.claimPauseMs = this.settings.claimIdleMs * (0.25 + Math.random() * 0.25)
    }
    const isSweepDue = performance.now() >= this.nextSweepAt
    if (isSweepDue)
      this.nextSweepAt = performance.now() + jittered(this.isQuiet() ? this.quietSweepMs : this.sweepMs, SWEEP_JITTER)
    const endRead = this.lag.reading()
    this.appended = 0
    let isRead = false
    try {
      this.take(await this.streams.readNew(this.readSize(), isSweepDue ? 'all' : 'expected'))
      while (this.streams.hasMore() && this.inHand.length < this.settings.batchSize)
        this.take(await this.streams.readNew(this.readSize(), 'expected'))
      if (isClaimDue) this.take(await this.streams.takeAbandoned(this.settings.claimIdleMs, CLAIM_PER_SHARD))
      isRead = true
    } finally {
      endRead(isRead ? this.inHand : undefined, this.streams.hasExpected())
    }
  }

  private readSize(): number {
    return Math.min(READ_SIZE, this.settings.batchSize - this.inHand.length)
  }

  private take({ entries, failure }: ReadResult): void {
    if (failure !== undefined) this.noteFailure(failure)
    for (const entry of entries) this.inHand.push(entry)
  }

  private async flush(entries: readonly StreamEntry[]): Promise<void> {
    const { stored, suspects, inserted, records } = await storeEntries((records) => this.write(records), entries)
    this.state.insertedRecords += inserted
    await this.settings.afterCommit(records)
    await this.acknowledge(stored)
    for (const suspect of suspects) await this.handleSuspect(suspect)
  }

  private write(records: readonly UsageRecord[]): Promise<number> {
    return this.bounded(writeUsageBatch(this.usable().sql, records))
  }

  /** Acknowledges entries, and only notes a failure: an unacknowledged entry is delivered again and found stored. */
  private async acknowledge(entries: readonly StreamEntry[]): Promise<void> {
    const failure = await this.streams.acknowledge(entries)
    if (failure !== undefined) this.noteFailure(failure)
  }

  /** An entry that can't be stored becomes a dead letter only after several deliveries, since a newer worker may understand it. */
  private async handleSuspect(suspect: Suspect): Promise<void> {
    const { entry, record, reason } = suspect
    const deliveries = (this.deliveries.get(nameOf(entry)) ?? 0) + 1
    this.deliveries.set(nameOf(entry), deliveries)
    const details = { shard: entry.shard, entryId: entry.id, recordId: record?.recordId, reason, deliveries }
    if (deliveries < this.settings.maxDeliveries) {
      this.logger.warn('usage_record_not_stored', details)
      return
    }
    const isBooked = await this.bounded(buryEntry(this.usable().sql, suspect))
    await this.acknowledge([entry])
    this.state.deadLetters += 1
    this.logger.error('usage_record_dead_lettered', { ...details, isBooked })
  }

  private async recover(error: unknown, failures: number): Promise<number> {
    this.failuresInARow = failures
    this.noteFailure(error)
    this.logger.warn('flusher_failed', { reason: this.state.lastError, failures })
    if (error instanceof DatabaseTimeoutError) await this.dropConnections()
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (failures - 1))
    return backoffMs * (0.5 + Math.random() / 2)
  }

  private noteFailure(error: unknown): void {
    this.state.lastError = describeFailure(error)
    this.troubleUntil = performance.now() + TROUBLE_MS
  }

  private usable(): Database {
    this.database ??= this.settings.connect()
    return this.database
  }

  private async dropConnections(): Promise<void> {
    const hung = this.database
    this.database = undefined
    await hung?.close(0)
  }

  private bounded<T>(work: Promise<T>): Promise<T> {
    return withDatabaseDeadline(work, this.settings.transactionTimeoutMs)
  }
}

function nameOf({ stream, id }: StreamEntry): string {
  return `${stream} ${id}`
}
