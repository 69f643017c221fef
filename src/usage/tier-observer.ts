/**
 * Counts how the models of tiers answer a share of the requests, so that an operator can judge a tier. Only counters, no texts. They are
 * written to Postgres every few seconds. A crash loses unwritten counts, on which no bill depends.
 */
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import type { AnswerEnd } from '@/ledger/charge'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { inTurn } from '@/lib/wait/in-turn'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { forgetOldFeedback } from './feedback'
import { addObservations, COUNTERS, type Counts, type DayObserved, dayOf, noCounts } from './observations'

type Asked = {
  requestId: string
  /** The requested tier, or a model, which is never observed. */
  tier: string
  model: string
  /** A digest of the conversation's name, or of its user's texts; undefined if both are missing. */
  session: string | undefined
  turns: number
  /** When the request arrived, by the monotonic clock. */
  arrivedMs: number
}

export interface TierObserver extends BackgroundWorker {
  /** Notes that a request has an answer. Returns a function to call at its end; undefined if the request is not observed. */
  answered(asked: Asked): ((end: AnswerEnd) => void) | undefined
  flush(): Promise<void>
}

type ObserverDeps = {
  /** The observed share of a tier's requests, from 0 to 1; 0 for other names. */
  shareOf(tier: string): number
  database: Database
  clock: Clock
  logger: Logger
}

/** A request that is repeated within this time counts as a sign of dissatisfaction. */
export const RETRY_MS = 60_000
/** Maximum observed conversations per process. */
const MAX_SESSIONS = 10_000
const FLUSH_MS = 10_000
const JITTER = 0.5
const WRITE_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 2_000
const FORGET_EVERY_MS = 3_600_000

/** The last answer in an observed conversation. */
type LastAnswer = { model: string; turns: number; endedMs: number; isRetried: boolean }

/** Creates the observer of one process. A stop writes the unwritten counts, and takes four seconds at most. */
export function createTierObserver({ shareOf, database, clock, logger }: ObserverDeps): TierObserver {
  const sessions = createBoundedMap<string, LastAnswer>(MAX_SESSIONS)
  let counted = new Map<string, DayObserved>()
  let forgetAtMs = 0

  function countsOf(tier: string, model: string): Counts {
    const row = { day: dayOf(clock.now()), tier, model }
    return take(counted, { ...row, ...noCounts() })
  }

  /** Counts a repeated request: one with no more turns than the last. A conversation that continues has more turns. */
  function noteRetry({ tier, session, turns, arrivedMs }: Asked): void {
    const last = session === undefined ? undefined : sessions.get(session)
    if (!last || last.isRetried || turns > last.turns || arrivedMs - last.endedMs >= RETRY_MS) return
    last.isRetried = true
    countsOf(tier, last.model).retries += 1
  }

  function answered(asked: Asked) {
    const share = shareOf(asked.tier)
    if (share === 0) return undefined
    noteRetry(asked)
    if (!isObserved(asked.requestId, share)) return undefined
    const { tier, model, session, turns } = asked
    return (end: AnswerEnd) => {
      countEnd(countsOf(tier, model), end)
      if (session !== undefined) sessions.set(session, { model, turns, endedMs: clock.monotonic(), isRetried: false })
    }
  }

  const flush = inTurn(async () => {
    const rows = [...counted.values()]
    counted = new Map()
    // A late write may still happen and count twice, which is better than waiting without end.
    try {
      await withDatabaseDeadline(addObservations(database.db, rows), WRITE_TIMEOUT_MS)
    } catch (error) {
      for (const row of rows) add(take(counted, { ...row, ...noCounts() }), row)
      throw error
    }
  })

  const loop = createWorkerLoop({
    async round() {
      await flush()
      if (clock.monotonic() >= forgetAtMs) {
        await withDatabaseDeadline(forgetOldFeedback(database), WRITE_TIMEOUT_MS)
        forgetAtMs = clock.monotonic() + FORGET_EVERY_MS
      }
      return jittered(FLUSH_MS, JITTER)
    },
    onFailure(error) {
      logger.warn('tier_observations_unwritten', { reason: describeFailure(error) })
      return jittered(FLUSH_MS, JITTER)
    },
    firstPauseMs: FLUSH_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return {
    answered,
    flush,
    start: loop.start,
    async stop() {
      await loop.stop()
      await withDatabaseDeadline(flush(), STOP_TIMEOUT_MS).catch((error: unknown) => {
        logger.warn('tier_observations_unwritten', { reason: describeFailure(error) })
      })
    },
  }
}

/** Uses the id's random bits, so that every process decides alike, and no caller can influence it. */
function isObserved(requestId: string, share: number): boolean {
  return Number.parseInt(requestId.slice(-8), 16) < share * 0x1_0000_0000
}

function countEnd(counts: Counts, { ending, finish, outputTokens }: AnswerEnd): void {
  counts.answers += 1
  counts.outputTokens += outputTokens
  if (ending === 'disconnected' || ending === 'unanswered') counts.leftEarly += 1
  else if (ending === 'broken' || finish === 'error') counts.broken += 1
  else if (ending === 'cut' || finish === 'length' || finish === 'context-length') counts.cutByLength += 1
  else if (finish === 'content-filter') counts.filtered += 1
  else if (finish === 'tool-calls') counts.toolCalls += 1
}

function take(rows: Map<string, DayObserved>, fresh: DayObserved): DayObserved {
  const place = `${fresh.day} ${fresh.tier} ${fresh.model}`
  const known = rows.get(place)
  if (!known) rows.set(place, fresh)
  return known ?? fresh
}

function add(sum: Counts, more: Counts): void {
  for (const name of COUNTERS) sum[name] += more[name]
}
