/** Carries usage records from the ledger's streams into the history: at least once by delivery, exactly once by effect. */
import { Cluster } from 'ioredis'
import type { Database } from '@/db/client'
import { DatabaseTimeoutError, withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import { createRecordStreams, type RecordStreams, type StreamEntry } from '@/ledger/records/record-streams'
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
  /** Opens a pool that is the flusher's own: it closes it when the server hangs, and opens another. */
  connect: () => Database
  logger: Logger
  /** Records per transaction, about; so many of this process's own don't wait for others. */
  batchSize?: number
  /** Entries that a worker took and did not acknowledge for this long are taken over. */
  claimIdleMs?: number
  /** How often an entry that can't be stored is taken before it becomes a dead letter. */
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
  /** How long the oldest of them has been waiting, as far as this flusher can tell; 0 if it knows of none. */
  lagSeconds: number
  /** What went wrong last, or undefined if all is well again. Holds no data. */
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

type Settings = FlusherOptions & Required<Pick<FlusherOptions, keyof typeof DEFAULTS>>

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
/** A failure is shown for at least this long: a shard that is down is asked only now and then. */
const TROUBLE_MS = 2_500
const CLAIM_PER_SHARD = 200
/** The most failing entries that are counted; beyond it the oldest count starts anew. */
const MAX_SUSPECTS = 10_000

/** One worker: reads a batch, writes it in one transaction, acknowledges it. A failed batch is kept and retried. */
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
  /** How often this worker was handed what it could not store. */
  private readonly deliveries = createBoundedMap<string, number>(MAX_SUSPECTS)
  /** Records that this process has appended since its last read. */
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
    this.loop.hurry(this.appended < this.settings.batchSize ? this.settings.lingerMs : 0)
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
    // A stream with more than its share of a batch may fall behind for ever where it has to wait for the next one.
    if (this.streams.hasMore() || this.appended >= this.settings.batchSize) return 0
    return this.streams.hasExpected()
      ? this.settings.lingerMs
      : Math.max(this.settings.lingerMs, this.nextSweepAt - performance.now())
  }

  /** All that gathers still. A round that finds nothing has been to every stream that answers. */
  private async lastRound(): Promise<void> {
    while (!this.isAbandoned && (this.inHand.length > 0 || this.streams.hasExpected()))
      if ((await this.handleBatch()) === 0) return
  }

  private async handleBatch(): Promise<number> {
    await this.upkeep()
    if (this.inHand.length === 0) this.inHand = await this.readBatch()
    const entries = this.inHand
    if (entries.length > 0) await this.flush(entries)
    this.inHand = []
    this.lag.carried()
    return entries.length
  }

  /** What fails here fails before anything was read, so that a dead database keeps the entries in their streams. */
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

  private async readBatch(): Promise<StreamEntry[]> {
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
    let entries: StreamEntry[] | undefined
    try {
      const results = [
        await this.streams.readNew(this.settings.batchSize, isSweepDue ? 'all' : 'expected'),
        ...(isClaimDue ? [await this.streams.takeAbandoned(this.settings.claimIdleMs, CLAIM_PER_SHARD)] : []),
      ]
      for (const { failure } of results) if (failure !== undefined) this.noteFailure(failure)
      entries = results.flatMap((result) => result.entries)
      return entries
    } finally {
      endRead(entries, this.streams.hasExpected())
    }
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

  /** An unacknowledged entry is delivered again and found stored, so other shards need not wait. */
  private async acknowledge(entries: readonly StreamEntry[]): Promise<void> {
    const failure = await this.streams.acknowledge(entries)
    if (failure !== undefined) this.noteFailure(failure)
  }

  /** An entry that no worker can store is put aside after some deliveries: a newer worker may understand what this one doesn't. */
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
