/**
 * Runs the lines of batches in each gateway: few at a time, and fewer if live traffic is heavy. A gateway claims a line in Postgres with a
 * lease. Each try of a line has its own request id, which every gateway can compute. Before another try, the ledger seals the holds of the
 * earlier tries. So a line is charged at most once, however often gateways die.
 */
import type { Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import type { Ledger } from '@/ledger/ledger'
import type { Payer } from '@/ledger/outcomes'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { SHARED } from '@/limits/shared-resources'
import { type LineAnswer, nextStep } from './line-outcome'
import {
  type ClaimedLine,
  claimLines,
  type DueBatch,
  delayBatch,
  dueBatches,
  endLine,
  endUnrun,
  isBooked,
  putBack,
  renewLeases,
  requestIdOfTry,
} from './lines'

/** One try of a line, as a request of the batch's key. */
export type LineCall = Pick<DueBatch, 'endpoint' | 'headers' | 'clientAddress'> & {
  payer: Payer
  requestId: string
  body: string
  /** How often providers have failed for this line. */
  faults: number
}

/** Runs lines. `answer` never rejects. `lostAnswer` is the result of a line that was charged, but whose answer was lost. */
export type LineAnswerer = {
  answer(call: LineCall): Promise<LineAnswer>
  lostAnswer(endpoint: string, requestId: string): { status: number; body: string }
}

export interface BatchRunner extends BackgroundWorker {
  /** Looks for work at once. Call it after a batch was created or changed. */
  hurry(): void
}

type RunnerOptions = {
  database: Database
  ledger: Pick<Ledger, 'sealFate'>
  answerer: LineAnswerer
  logger: Logger
  /** Milliseconds after which other gateways may claim a line whose lease was not renewed. */
  leaseMs: number
  /** Whether this process is stopping and takes no more lines. */
  isLeaving: () => boolean
}

type Running = { batchId: string; accountId: string; place: number; tries: number }

const { perAccount: MOST_EACH, perProcess: MOST } = SHARED.batchLines
const BATCHES_AT_ONCE = 20
const IDLE_MS = 2_000
const JITTER = 0.5
/** If a timer is later than this, the gateway is busy, and lines begin one by one. */
const LATE_MS = 25
const SAMPLE_MS = 5
const BUSY_PAUSE_MS = 200
/** Wait of a line whose earlier try is still open, or has just been charged. Then it is checked again. */
const UNDECIDED_MS = 2_000
/** An answer is stored within moments after its charge. If it isn't stored after this time, it never will be. */
const STORE_GRACE_MS = 10_000
const STORE_RETRY_MS = 500
const STOP_TIMEOUT_MS = 5_000
const STORAGE_PAUSE_MS = 15_000
const STORAGE_FULL = 'The account has no room for further results. Delete files or batches.'

export function createBatchRunner({
  database,
  ledger,
  answerer,
  logger,
  leaseMs,
  isLeaving,
}: RunnerOptions): BatchRunner {
  const running = new Set<Running>()
  const work = new Set<Promise<void>>()
  let isWanted = false
  let renewing: Timer | undefined

  const openOf = (accountId: string) => [...running].filter((one) => one.accountId === accountId).length

  const loop = createWorkerLoop({
    async round() {
      isWanted = false
      if (isLeaving() || running.size >= MOST) return jittered(IDLE_MS, JITTER)
      const due = await dueBatches(database, BATCHES_AT_ONCE)
      if (due.length === 0) return isWanted ? 0 : jittered(IDLE_MS, JITTER)
      const isBusy = (await lateness()) > LATE_MS
      let begun = 0
      for (const batch of due.toSorted((one, other) => openOf(one.payer.accountId) - openOf(other.payer.accountId))) {
        begun += await begin(batch, isBusy ? 1 - begun : MOST - running.size)
      }
      if (isBusy) return BUSY_PAUSE_MS
      return begun > 0 || isWanted ? 0 : jittered(IDLE_MS, JITTER)
    },
    onFailure(error) {
      logger.warn('batch_round_failed', { reason: describeFailure(error) })
      return jittered(IDLE_MS, JITTER)
    },
  })

  function hurry(): void {
    isWanted = true
    loop.hurry(0)
  }

  /** Begins up to `most` lines of a batch. Returns their number. */
  async function begin(batch: DueBatch, most: number): Promise<number> {
    const { accountId } = batch.payer
    if (batch.isOver) await endUnrun(database, batch.id)
    else if (batch.isStorageFull) {
      await delayBatch(database, batch.id, STORAGE_PAUSE_MS, { reason: 'storage_full', message: STORAGE_FULL })
      return 0
    }
    const count = Math.min(most, MOST_EACH - openOf(accountId))
    if (count <= 0) return 0
    const lines = await claimLines(database, batch, count, leaseMs)
    for (const line of lines) {
      const one = { batchId: batch.id, accountId, place: line.place, tries: line.tries }
      running.add(one)
      const run = runLine(batch, line)
        .catch((error: unknown) =>
          logger.warn('batch_line_failed', { batchId: batch.id, reason: describeFailure(error) }),
        )
        .finally(() => {
          running.delete(one)
          work.delete(run)
          hurry()
        })
      work.add(run)
    }
    return lines.length
  }

  async function runLine(batch: DueBatch, line: ClaimedLine): Promise<void> {
    if (!(await isClear(batch, line))) return
    const { place, tries, faults } = line
    if (batch.isOver) {
      await putBack(database, batch.id, line, { waitMs: 0, cleared: tries, faults })
      return endUnrun(database, batch.id)
    }
    const requestId = requestIdOfTry(batch.id, place, tries)
    const answer = await answerer.answer({ ...batch, requestId, body: line.request, faults })
    const next = nextStep(answer, faults)
    switch (next.kind) {
      case 'end': {
        const { status, body, cost, isCharged, error } = answer
        const state = error || status !== 200 ? 'errored' : 'succeeded'
        return keepTrying(() => endLine(database, batch.id, line, { state, status, requestId, body, cost }, isCharged))
      }
      case 'retry':
        return putBack(database, batch.id, line, { waitMs: next.waitMs, cleared: tries, faults: faults + 1 })
      case 'wait':
        await delayBatch(database, batch.id, next.waitMs, next.pause)
        await putBack(database, batch.id, line, { waitMs: 0, cleared: tries, faults })
    }
  }

  /** Repeats a write while Postgres is unreachable, because only this process has the answer. */
  async function keepTrying(write: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await write()
        return
      } catch (error) {
        if (isLeaving()) throw error
        logger.warn('batch_result_not_stored', { reason: describeFailure(error) })
        await Bun.sleep(STORE_RETRY_MS)
      }
    }
  }

  /** Whether all earlier tries of the line were free. If not, ends the line; if unknown, puts it back. */
  async function isClear(batch: DueBatch, line: ClaimedLine): Promise<boolean> {
    const { payer, id, endpoint } = batch
    const { place, tries, cleared, faults } = line
    for (let earlier = cleared + 1; earlier < tries; earlier++) {
      const requestId = requestIdOfTry(id, place, earlier)
      const fate = await ledger.sealFate({ ...payer, holdId: requestId })
      if (fate.kind === 'free') continue
      if (fate.kind !== 'charged' || fate.sinceMs <= STORE_GRACE_MS || !(await isBooked(database, requestId))) {
        await putBack(database, id, line, { waitMs: UNDECIDED_MS, cleared: earlier - 1, faults })
        return false
      }
      const lost = answerer.lostAnswer(endpoint, requestId)
      await endLine(database, id, line, { state: 'errored', ...lost, requestId, cost: undefined }, true)
      return false
    }
    return true
  }

  return {
    hurry,
    start() {
      renewing ??= setInterval(() => {
        void renewLeases(database, [...running], leaseMs).catch((error: unknown) =>
          logger.warn('batch_lease_not_renewed', { reason: describeFailure(error) }),
        )
      }, leaseMs / 3)
      loop.start()
    },
    async stop() {
      await loop.stop()
      // If a line takes longer, another gateway claims it after its lease has ended.
      await withDeadline(Promise.all(work), STOP_TIMEOUT_MS, () => undefined)
      clearInterval(renewing)
    },
  }
}

/** Milliseconds by which a timer is late. They show how busy the event loop is. */
async function lateness(): Promise<number> {
  const beganMs = performance.now()
  await Bun.sleep(SAMPLE_MS)
  return performance.now() - beganMs - SAMPLE_MS
}
