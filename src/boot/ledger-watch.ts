import { reconcileHistory } from '@/accounts/reconcile'
import type { Database } from '@/db/client'
import { checkLedger } from '@/ledger/check/check'
import type { Violation } from '@/ledger/check/violation'
import type { LedgerHistory } from '@/ledger/outcomes'
import type { RedisClient } from '@/ledger/store/connection'
import { isJsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import { createPace, type Pace } from '@/lib/pace'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import type { DriftReport } from '@/metrics/metrics'

type LedgerWatchOptions = {
  redis: RedisClient
  database: Database
  history: LedgerHistory
  logger: Logger
  onReport(report: DriftReport): void
  intervalMs?: number
}

const DEFAULT_INTERVAL_MS = 300_000
const JITTER = 0.25
/** If another gateway has checked within this part of the interval, this round is skipped. */
const FRESH_SHARE = 0.75
/** The time for one gateway's check. Then another may check, in case the first died. Two checks at once only waste time. */
const TURN_MS = 600_000
const STOP_TIMEOUT_MS = 5_000
/** Maximum violations logged singly, since one broken rule can affect every account. Then only their number is logged. */
const MAX_LINES = 20

/** How often all Redis keys are scanned for accounts; other checks read the lists of accounts. */
const SEARCH_INTERVAL_MS = 24 * 60 * 60 * 1_000
/** The share of time in which a check works. In its pauses, paid requests are served. */
const WORK_SHARE = 0.25

const SEARCHED_KEY = 'ledger-check:searched'
const TURN_KEY = 'ledger-check:turn'
const REPORT_KEY = 'ledger-check:report'

/** Checks the ledger at start and every few minutes, at one gateway at a time; logs and counts violations. A stop waits 5 s at most. */
export function createLedgerWatch(options: LedgerWatchOptions): BackgroundWorker {
  const { redis, logger, onReport, intervalMs = DEFAULT_INTERVAL_MS } = options
  const loop = createWorkerLoop({ round, onFailure, stopTimeoutMs: STOP_TIMEOUT_MS })
  const pace = createPace(WORK_SHARE)
  let isFirst = true
  let hasTurn = false

  async function round(): Promise<number> {
    const mayRepeat = isFirst
    isFirst = false
    const known = parseReport(await redis.get(REPORT_KEY))
    if (known) onReport(known)
    if (!known || mayRepeat) await takeTurn()
    return jittered(intervalMs, JITTER)
  }

  function onFailure(error: unknown): number {
    if (!loop.isStopping()) logger.warn('ledger_check_failed', { error })
    return jittered(intervalMs, JITTER)
  }

  async function takeTurn(): Promise<void> {
    hasTurn = (await redis.set(TURN_KEY, '1', 'PX', TURN_MS, 'NX')) === 'OK'
    if (!hasTurn) return
    try {
      const report = await check(options, rest)
      onReport(report)
      await redis.set(REPORT_KEY, JSON.stringify(report), 'PX', Math.ceil(intervalMs * FRESH_SHARE))
    } finally {
      await giveTurnBack()
    }
  }

  async function rest(): Promise<void> {
    if (loop.isStopping()) throw new Error('the gateway stops')
    await pace()
  }

  async function giveTurnBack(): Promise<void> {
    if (hasTurn) await redis.del(TURN_KEY)
    hasTurn = false
  }

  return {
    start: loop.start,
    async stop() {
      await loop.stop()
      await giveTurnBack().catch(() => undefined)
    },
  }
}

async function check(options: LedgerWatchOptions, pace: Pace): Promise<DriftReport> {
  const { redis, database, history, logger } = options
  const startedMs = performance.now()
  const isSearched = (await redis.get(SEARCHED_KEY)) !== null
  const search = isSearched ? 'listed' : 'accounts-and-keys'
  const ledger = await checkLedger({ redis, history, logger, search, pace })
  if (!isSearched) await redis.set(SEARCHED_KEY, '1', 'PX', SEARCH_INTERVAL_MS)
  const books = await reconcileHistory(database, 'sums')
  const violations = [...ledger.violations, ...books.violations]
  const durationMs = Math.round(performance.now() - startedMs)
  const report = { atMs: Date.now(), durationMs, accounts: ledger.accounts, violations: countKinds(violations) }
  for (const violation of violations.slice(0, MAX_LINES)) logger.error('ledger_drift', violation)
  if (violations.length > 0) logger.error('ledger_check_found', { ...report, count: violations.length })
  else logger.debug('ledger_check_passed', { accounts: report.accounts, durationMs })
  return report
}

function countKinds(violations: readonly Violation[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of violations) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** Parses a report of another gateway, which may have another version. */
function parseReport(text: string | null): DriftReport | undefined {
  const value = text === null ? undefined : parseJson(text)
  if (!isJsonObject(value) || !isJsonObject(value.violations)) return undefined
  const numbers = [value.atMs, value.durationMs, value.accounts, ...Object.values(value.violations)]
  return numbers.every((number) => Number.isFinite(number)) ? (value as unknown as DriftReport) : undefined
}
