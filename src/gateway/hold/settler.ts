/**
 * Makes sure that every settlement and release reaches the ledger and stays there. If the store does not acknowledge one, it is
 * sent again by its id, with growing pauses. An acknowledged one is kept for a moment, and sent again if the store went away in
 * that moment: the store may have lost its last seconds. Repeats are harmless. The journal covers a machine that loses gateway
 * and store together.
 */
import type { Ledger } from '@/ledger/ledger'
import type { Settlement, SettleOutcome } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { Metrics } from '@/metrics/metrics'
import { NO_JOURNAL, type SettlementJournal } from './settlement-journal'

type Resolution =
  | { kind: 'settle'; settlement: Settlement }
  | { kind: 'release'; accountId: string; keyId: string; memberId?: string | undefined; holdId: string }

export interface Settler {
  /**
   * Hands over a resolution. Returns once the ledger has acknowledged it, or after {@link PATIENCE_MS} at the latest:
   * from then on it is retried behind the answer's back. Never rejects. Returns the outcome of a settlement, where that is known.
   */
  resolve(resolution: Resolution): Promise<SettleOutcome | undefined>
  /** Call it when a store is connected again: sends at once the missing settlements, and those it may have lost. */
  storeReturned(): void
  /** Sends settlements of a process that died, unless the history has them. */
  resend(settlements: readonly Settlement[]): void
  /** Resolutions that the ledger has not acknowledged yet. */
  pendingCount(): number
  /** Waits until none is pending, at most `timeoutMs`. Returns how many were left. */
  drain(timeoutMs: number): Promise<number>
}

/** How long an answer's end may wait for the ledger. */
const PATIENCE_MS = 1_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5_000
/**
 * Settlements that were acknowledged within this time before a break are sent again after it. A store that syncs every second
 * loses up to two seconds with its power; a new primary lacks unreplicated writes.
 */
const KEEP_MS = 5_000
/** Bounds the memory: beyond this, the oldest are trusted to have lasted. */
const MAX_KEPT = 50_000

const BY_FORCE = { force: true } as const
const AGAIN = { force: true, isRepeat: true } as const

/** Creates the settler of one process. */
export function createSettler(
  ledger: Pick<Ledger, 'settle' | 'release' | 'isBooked'>,
  clock: Clock,
  logger: Logger,
  metrics: Pick<Metrics, 'flagged' | 'settlementFailed'>,
  journal: SettlementJournal = NO_JOURNAL,
): Settler {
  let pending = 0
  /** Resolved once nothing is pending. */
  let drained: PromiseWithResolvers<void> | undefined
  /** Acknowledged lately, in the order of their acknowledgement. */
  let kept: { resolution: Resolution; atMs: number }[] = []
  /** The index in `kept` of the first entry that is still needed. */
  let firstKept = 0
  let wake = Promise.withResolvers<void>()

  /** Retries until the ledger has acknowledged it, and resolves the waiting promise with the outcome. Never rejects. */
  async function insist(resolution: Resolution, isRepeat: boolean, waiting?: Waiting): Promise<void> {
    pending += 1
    for (let pause = FIRST_RETRY_MS, failures = 0; ; pause = Math.min(pause * 2, MAX_RETRY_MS), failures++) {
      const woken = wake.promise
      let outcome: SettleOutcome | undefined
      try {
        const isBooked = isRepeat && resolution.kind === 'settle' && (await ledger.isBooked(resolution.settlement))
        if (isBooked) journal.forget(idOf(resolution))
        else {
          const isAgain = isRepeat || failures > 0
          outcome =
            resolution.kind === 'settle'
              ? // The reserve was acknowledged before anything was delivered: a store that lost the hold since must charge all the same.
                await ledger.settle(resolution.settlement, isAgain ? AGAIN : BY_FORCE)
              : void (await ledger.release(resolution))
          // Most repetitions find that the earlier settlement stands.
          if (outcome && !(isRepeat && outcome.kind === 'already_settled')) note(outcome, resolution)
          // An account that is unknown here may be another installation's, which left its journal in the same folder.
          if (outcome?.kind === 'already_released') journal.forget(idOf(resolution))
          // It was settled before, and not by a lost answer to our own call: that settlement stands.
          if (isAgain || outcome?.kind !== 'already_settled') keep(resolution, outcome)
        }
        if (failures > 0) logger.info('settlement_acknowledged', { holdId: idOf(resolution), failures })
        journal.flush()
        waiting?.end(outcome)
        pending -= 1
        if (pending === 0) drained?.resolve()
        return
      } catch (error) {
        metrics.settlementFailed()
        logger.warn('settlement_unacknowledged', { holdId: idOf(resolution), error })
        await withDeadline(woken, pause * (0.5 + Math.random() / 2), giveUp)
      }
    }
  }

  function note(outcome: SettleOutcome, resolution: Resolution): void {
    if (outcome.kind === 'settled' || outcome.kind === 'late') {
      for (const flag of outcome.record.flags) metrics.flagged(flag, 1)
    }
    if (outcome.kind !== 'settled' || outcome.overrun)
      logger.warn('settlement_outcome', { holdId: idOf(resolution), outcome: outcome.kind })
  }

  function keep(sent: Resolution, outcome: SettleOutcome | undefined): void {
    const resolution = decided(sent, outcome)
    if (resolution !== sent && resolution.kind === 'settle') journal.add(resolution.settlement)
    const atMs = clock.monotonic()
    kept.push({ resolution, atMs })
    // Each is passed over once: the oldest stand first, and what was passed over is taken off in lumps.
    while (atMs - (kept[firstKept]?.atMs ?? atMs) > KEEP_MS) firstKept++
    firstKept = Math.max(firstKept, kept.length - MAX_KEPT)
    if (firstKept <= kept.length / 2) return
    kept = kept.slice(firstKept)
    firstKept = 0
  }

  return {
    resolve(resolution) {
      // First of all: it is flushed before its client can see the end, wherever this process ends then.
      if (resolution.kind === 'settle') journal.add(resolution.settlement)
      const waiting = new Waiting()
      watch(waiting)
      void insist(resolution, false, waiting)
      return waiting.told.promise
    },
    storeReturned() {
      wake.resolve()
      wake = Promise.withResolvers<void>()
      const again = kept.slice(firstKept)
      kept = []
      firstKept = 0
      for (const { resolution } of again) void insist(resolution, true)
    },
    resend(settlements) {
      for (const settlement of settlements) void insist({ kind: 'settle', settlement }, true)
    },
    pendingCount: () => pending,
    async drain(timeoutMs) {
      if (pending === 0) return 0
      drained = Promise.withResolvers()
      await withDeadline(drained.promise, timeoutMs, giveUp)
      return pending
    },
  }
}

/** A wait for an acknowledgement, which ends after a while without one. */
class Waiting implements Timed {
  readonly dueAtMs = dueIn(PATIENCE_MS)
  readonly told = Promise.withResolvers<SettleOutcome | undefined>()

  onDue(): void {
    this.end(undefined)
  }

  end(outcome: SettleOutcome | undefined): void {
    unwatch(this)
    this.told.resolve(outcome)
  }
}

/** Nothing is lost: the settlement goes on. */
function giveUp(): undefined {
  return undefined
}

/** Whether a hang-up is free is decided once: the history may know already, when it is sent again to a store that lost it. */
function decided(resolution: Resolution, outcome: SettleOutcome | undefined): Resolution {
  if (resolution.kind === 'release' || outcome === undefined) return resolution
  if (resolution.settlement.freePerHour === undefined) return resolution
  const { freePerHour: _, ...settlement } = resolution.settlement
  if (outcome.kind === 'settled') return { kind: 'settle', settlement: { ...settlement, cost: outcome.record.cost } }
  // A settlement after the expiry of its hold is charged in full, even if the store has forgotten the expiry.
  return outcome.kind === 'late' ? { kind: 'settle', settlement } : resolution
}

function idOf(resolution: Resolution): string {
  return resolution.kind === 'settle' ? resolution.settlement.holdId : resolution.holdId
}
