/**
 * Notes requests with a valid key that were not answered, so that their account can see which and why. It is not awaited: of each
 * hour and account a sample is kept in memory and written every few seconds, and what goes beyond is counted. What a process had
 * not written when it died is missing, and no bill depends on it.
 */
import { type GatewayError, knownError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import type { Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { type FailureCount, forgetOldFailures, type ListedFailure, writeFailures } from './failure-tables'
import { withoutContent } from './without-content'

/** `model` is what was asked for, in the caller's words; undefined where that was not read. */
type Failure = { requestId: string; payer: Payer; format: FormatName; model: string | undefined; error: unknown }

export interface FailedRequests extends BackgroundWorker {
  /** Notes a request that was not answered. Never throws, and waits for nothing. */
  note(failure: Failure): void
  /** Writes what was noted so far. */
  flush(): Promise<void>
  /** How many this process could not even count, since the history was away for too long. */
  lostCount(): number
}

type FailedRequestsDeps = {
  database: Database
  clock: Clock
  logger: Logger
  /** Whether a model or tier is sold here: nothing else that a caller calls a model is kept. */
  isSold(model: string): boolean
}

/** Listed of one account in an hour, by each process: a flood must fill neither the table nor the list. */
export const MAX_LISTED_PER_HOUR = 100
/** And of these, with one key, status and code, so that one kind of failure does not hide another. */
export const MAX_ALIKE_PER_HOUR = 25
/** What one process keeps until it is written. */
const MAX_WAITING = 2_000
const MAX_ACCOUNTS = 10_000
const MS_PER_HOUR = 3_600_000
const FLUSH_MS = 2_000
const JITTER = 0.25
const WRITE_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 2_000
const FORGET_EVERY_MS = 3_600_000
const UNAUTHENTICATED = 401

/** What of an account's present hour was listed. */
type Sample = { hour: number; listed: number; alike: Map<string, number> }

/** Creates the notes of one process. A stop writes what is left. */
export function createFailedRequests({ database, clock, logger, isSold }: FailedRequestsDeps): FailedRequests {
  const samples = createBoundedMap<string, Sample>(MAX_ACCOUNTS)
  let listed: ListedFailure[] = []
  let counts = new Map<string, FailureCount>()
  let lost = 0
  let forgetAtMs = 0

  function count(failure: Omit<FailureCount, 'requests'>, requests = 1): void {
    const name = [failure.accountId, failure.hourMs, failure.keyId, failure.status, failure.code].join(' ')
    const known = counts.get(name)
    if (known) known.requests += requests
    else if (counts.size < MAX_WAITING) counts.set(name, { ...failure, requests })
    else lost += requests
  }

  /** Whether another one of its kind is listed in this hour. */
  function isSampled(accountId: string, kind: string, hour: number): boolean {
    const known = samples.get(accountId)
    const sample = known?.hour === hour ? known : { hour, listed: 0, alike: new Map<string, number>() }
    const alike = sample.alike.get(kind) ?? 0
    if (listed.length >= MAX_WAITING || sample.listed >= MAX_LISTED_PER_HOUR || alike >= MAX_ALIKE_PER_HOUR)
      return false
    sample.listed += 1
    sample.alike.set(kind, alike + 1)
    samples.set(accountId, sample)
    return true
  }

  function note({ requestId, payer, format, model, error }: Failure): void {
    const known = knownError(error)
    // The key is no longer valid, so the request belongs to no account.
    if (known.status === UNAUTHENTICATED) return
    const { accountId, keyId } = payer
    const atMs = clock.now()
    const hour = Math.floor(atMs / MS_PER_HOUR)
    const kind = { status: known.status, code: codeOf(known) }
    count({ accountId, hourMs: hour * MS_PER_HOUR, keyId, ...kind })
    if (!isSampled(accountId, `${keyId} ${kind.status} ${kind.code}`, hour)) return
    const asked = model !== undefined && isSold(model) ? model : null
    listed.push({ requestId, accountId, keyId, atMs, format, model: asked, ...kind, ...withoutContent(known) })
  }

  async function flush(): Promise<void> {
    if (listed.length === 0 && counts.size === 0) return
    const [rows, sums] = [listed, [...counts.values()]]
    listed = []
    counts = new Map()
    // What came too late may still be written, and then counts twice: better than a worker that waits for ever.
    try {
      await withDatabaseDeadline(writeFailures(database, rows, sums), WRITE_TIMEOUT_MS)
    } catch (error) {
      listed = [...rows, ...listed].slice(0, MAX_WAITING)
      for (const { requests, ...sum } of sums) count(sum, requests)
      throw error
    }
  }

  const loop = createWorkerLoop({
    async round() {
      await flush()
      if (clock.monotonic() >= forgetAtMs) {
        await withDatabaseDeadline(forgetOldFailures(database, clock.now()), WRITE_TIMEOUT_MS)
        forgetAtMs = clock.monotonic() + FORGET_EVERY_MS
      }
      return jittered(FLUSH_MS, JITTER)
    },
    onFailure(error, failures) {
      if (failures === 1) logger.warn('failed_requests_unwritten', { reason: describeFailure(error) })
      return jittered(FLUSH_MS, JITTER)
    },
    firstPauseMs: FLUSH_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return {
    note,
    flush,
    lostCount: () => lost,
    start: loop.start,
    async stop() {
      await loop.stop()
      await withDatabaseDeadline(flush(), STOP_TIMEOUT_MS).catch((error: unknown) => {
        logger.warn('failed_requests_unwritten', { reason: describeFailure(error) })
      })
    },
  }
}

/** Always a word of ours. */
function codeOf({ kind, options }: GatewayError): string {
  return options.code ?? kind
}
