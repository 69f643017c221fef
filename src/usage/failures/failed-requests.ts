/**
 * Notes failed requests with a valid key, so that their account sees them and the reason. They are kept in memory and written every few
 * seconds. Requests beyond an account's limit are only counted. A crash loses unwritten notes, on which no bill depends.
 */
import { type GatewayError, knownError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import { startOfDay } from '@/db/failure-schema'
import type { Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { inTurn } from '@/lib/wait/in-turn'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { keepFailurePartitions } from '@/usage/partitions'
import { type FailureCount, forgetOldCounts, kindOf, type ListedFailure, writeFailures } from './failure-tables'
import { modelName, withoutContent } from './without-content'

/** `model` is the caller's text; undefined if it wasn't read. */
type Failure = { requestId: string; payer: Payer; format: FormatName; model: string | undefined; error: unknown }

export interface FailedRequests extends BackgroundWorker {
  note(failure: Failure): void
  flush(): Promise<void>
  /** Requests that this process could not even count, because Postgres was unavailable for too long. */
  lostCount(): number
}

type FailedRequestsDeps = {
  database: Database
  clock: Clock
  logger: Logger
}

/** Maximum unwritten listed requests of one process, in total and per account. */
const MAX_WAITING = 5_000
const MAX_OWN_WAITING = 1_000
/** The limit per account once half of the total is used, so that other accounts still have room. */
const SMALL_SHARE = 20
/** Maximum kinds of failures in memory, in total and per account: more than the keys of an account cause within seconds. */
const MAX_KINDS = 20_000
const MAX_OWN_KINDS = 1_000
const MAX_ACCOUNTS = 10_000
/** Maximum rows per write: all rows after an outage would block a busy database too long. */
const MAX_WRITTEN = 2_000
const FLUSH_MS = 2_000
const JITTER = 0.25
const WRITE_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 2_000
const FORGET_EVERY_MS = 3_600_000
const UNAUTHENTICATED = 401

type Share = { listed: number; kinds: number }

/** Creates the notes of one process. A stop writes all unwritten notes. */
export function createFailedRequests({ database, clock, logger }: FailedRequestsDeps): FailedRequests {
  /** The UTC day on which an account's list is full. */
  const fullDays = createBoundedMap<string, number>(MAX_ACCOUNTS)
  let shares = new Map<string, Share>()
  let listed: ListedFailure[] = []
  const counts = new Map<string, FailureCount>()
  let lost = 0
  let forgetAtMs = 0
  let partitionsAtMs = 0

  function shareOf(accountId: string): Share {
    const known = shares.get(accountId)
    if (known) return known
    const share = { listed: 0, kinds: 0 }
    shares.set(accountId, share)
    return share
  }

  /** Counts a failure. Returns false if there is no room for its kind. */
  function count(failure: Omit<FailureCount, 'requests'>, requests = 1): boolean {
    const name = kindOf(failure)
    const known = counts.get(name)
    if (known) known.requests += requests
    else if (counts.size >= MAX_KINDS || shareOf(failure.accountId).kinds >= MAX_OWN_KINDS) {
      lost += requests
      return false
    } else {
      shareOf(failure.accountId).kinds += 1
      counts.set(name, { ...failure, requests })
    }
    return true
  }

  function hasRoom({ listed: own }: Share): boolean {
    return listed.length < MAX_WAITING / 2 ? own < MAX_OWN_WAITING : listed.length < MAX_WAITING && own < SMALL_SHARE
  }

  function list(failure: ListedFailure): void {
    const share = shareOf(failure.accountId)
    if (!hasRoom(share)) return
    share.listed += 1
    listed.push(failure)
  }

  function note({ requestId, payer, format, model, error }: Failure): void {
    const known = knownError(error)
    // The key is no longer valid, so the request belongs to no account.
    if (known.status === UNAUTHENTICATED) return
    const { accountId, keyId, memberId = '' } = payer
    const atMs = clock.now()
    const dayMs = startOfDay(atMs)
    const kind = { status: known.status, code: codeOf(known) }
    if (!count({ accountId, dayMs, keyId, memberId, ...kind })) return
    if (fullDays.get(accountId) === dayMs || !hasRoom(shareOf(accountId))) return
    list({
      requestId,
      accountId,
      keyId,
      memberId,
      atMs,
      format,
      model: modelName(model),
      ...kind,
      ...withoutContent(known),
    })
  }

  /** Takes the rows of one write from memory: counts of some kinds, and the listed requests of these kinds. */
  function take(): { rows: ListedFailure[]; sums: FailureCount[] } {
    const sums = counts.values().take(MAX_WRITTEN).toArray()
    const taken = new Set(sums.map(kindOf))
    for (const name of taken) counts.delete(name)
    const isTaken = (row: ListedFailure) =>
      counts.size === 0 || taken.has(kindOf({ ...row, dayMs: startOfDay(row.atMs) }))
    const { rows = [], others = [] } = Object.groupBy(listed, (row) => (isTaken(row) ? 'rows' : 'others'))
    listed = others
    for (const { accountId } of sums) shareOf(accountId).kinds -= 1
    for (const { accountId } of rows) shareOf(accountId).listed -= 1
    if (counts.size === 0) shares = new Map()
    return { rows, sums }
  }

  const flush = inTurn(async () => {
    while (counts.size > 0) await writeSome()
  })

  async function writeSome(): Promise<void> {
    const { rows, sums } = take()
    // A late write may still happen and count twice, which is better than waiting without end.
    try {
      const full = await withDatabaseDeadline(writeFailures(database, rows, sums), WRITE_TIMEOUT_MS)
      for (const { accountId, dayMs } of full) fullDays.set(accountId, dayMs)
    } catch (error) {
      const newer = listed
      listed = []
      for (const share of shares.values()) share.listed = 0
      for (const failure of rows) list(failure)
      for (const failure of newer) list(failure)
      for (const { requests, ...sum } of sums) count(sum, requests)
      throw error
    }
  }

  async function forget(): Promise<void> {
    if (clock.monotonic() >= partitionsAtMs) {
      partitionsAtMs =
        clock.monotonic() + (await withDatabaseDeadline(keepFailurePartitions(database.sql, logger), WRITE_TIMEOUT_MS))
    }
    if (clock.monotonic() < forgetAtMs) return
    await withDatabaseDeadline(forgetOldCounts(database, clock.now()), WRITE_TIMEOUT_MS)
    forgetAtMs = clock.monotonic() + FORGET_EVERY_MS
  }

  const loop = createWorkerLoop({
    async round() {
      await flush()
      await forget()
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

/** The error's code, never a text from outside. */
function codeOf({ kind, options }: GatewayError): string {
  return options.code ?? kind
}
