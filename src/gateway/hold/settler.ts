/**
 * Makes sure that every settlement and release reaches the ledger and stays there. If the store does not acknowledge one, it is sent again
 * with the same id after growing pauses. Acknowledged ones are kept for a few seconds and sent again if the store goes away, since it may
 * have lost them. Repeats are harmless. The journal covers machines that lose gateway and store together.
 *
 * An answer doesn't wait for the ledger's reply. It ends once its settlement is in the journal and written to the ledger's connection. Then
 * a crash of gateway or Redis loses nothing, and Redis runs this gateway's later commands after the settlement.
 */
import type { Ledger } from '@/ledger/ledger'
import type { Settlement, SettleOutcome } from '@/ledger/outcomes'
import type { SentListener } from '@/ledger/store-calls'
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
   * Sends a settlement or release, and retries it in the background. For a settlement in the journal, resolves once it is sent, without an
   * outcome. For others, and for hang-ups that may be free, resolves to the outcome once the ledger has acknowledged it, or without an
   * outcome after {@link PATIENCE_MS}. Never rejects.
   */
  resolve(resolution: Resolution): Promise<SettleOutcome | undefined>
  /** Call it when the store is connected again: it sends settlements that were not acknowledged or may be lost. */
  storeReturned(): void
  /** Sends settlements of a dead process, unless they are in Postgres. */
  resend(settlements: readonly Settlement[]): void
  pendingCount(): number
  /** Waits until no settlement is pending, at most `timeoutMs`. Returns how many are still pending. */
  drain(timeoutMs: number): Promise<number>
}

/** How long an answer's end may wait for the ledger. */
const PATIENCE_MS = 1_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5_000
/**
 * Settlements acknowledged within this time before the store went away are sent again when it is back. A store that syncs every second
 * loses up to two seconds in a power loss; a new primary lacks unreplicated writes.
 */
const KEEP_MS = 5_000
/** Maximum acknowledged settlements kept in memory. If there are more, the oldest are forgotten. */
const MAX_KEPT = 50_000

const BY_FORCE = { force: true } as const
const AGAIN = { force: true, isRepeat: true } as const

export function createSettler(
  ledger: Pick<Ledger, 'settle' | 'release' | 'isBooked'>,
  clock: Clock,
  logger: Logger,
  metrics: Pick<Metrics, 'flagged' | 'settlementFailed'>,
  journal: SettlementJournal = NO_JOURNAL,
): Settler {
  let pending = 0
  /** Resolved once no settlement is pending. */
  let drained: PromiseWithResolvers<void> | undefined
  /** Settlements and releases that were acknowledged recently, in that order. */
  let kept: { resolution: Resolution; atMs: number }[] = []
  /** Index in `kept` of the first entry that is still needed. */
  let firstKept = 0
  let wake = Promise.withResolvers<void>()

  /** Retries a settlement until the ledger has acknowledged it, and resolves the waiting promise with the outcome. Never rejects. */
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
              ? // The reserve was acknowledged before the answer, so the charge is forced even if the store has lost the hold since.
                await ledger.settle(resolution.settlement, isAgain ? AGAIN : BY_FORCE, waiting)
              : void (await ledger.release(resolution))
          // Most repetitions only show that the earlier settlement is still stored.
          if (outcome && !(isRepeat && outcome.kind === 'already_settled')) note(outcome, resolution)
          // If the account is unknown, the settlement may be another installation's, whose journal is in the same folder.
          if (outcome?.kind === 'already_released') journal.forget(idOf(resolution))
          // If another call settled the hold before, its settlement counts, and ours is not kept.
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
    // The oldest are first, so each entry is skipped once; skipped entries are removed in batches.
    while (atMs - (kept[firstKept]?.atMs ?? atMs) > KEEP_MS) firstKept++
    firstKept = Math.max(firstKept, kept.length - MAX_KEPT)
    if (firstKept <= kept.length / 2) return
    kept = kept.slice(firstKept)
    firstKept = 0
  }

  return {
    resolve(resolution) {
      // Written first, so that the journal has the settlement before it is sent, even if this process dies in between.
      const file = resolution.kind === 'settle' ? journal.add(resolution.settlement) : undefined
      const waiting = new Waiting(journal, needsOutcome(resolution) ? undefined : file)
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

/** A wait for an acknowledgement, with a timeout. If the journal's `file` has the settlement, the wait ends once the command is sent. */
class Waiting implements Timed, SentListener {
  readonly dueAtMs = dueIn(PATIENCE_MS)
  readonly told = Promise.withResolvers<SettleOutcome | undefined>()

  constructor(
    private readonly journal: SettlementJournal,
    private readonly file: ReturnType<SettlementJournal['add']>,
  ) {}

  onSent(): void {
    if (!this.file) return
    this.journal.flush()
    if (this.file.isSound) this.end(undefined)
  }

  onDue(): void {
    this.end(undefined)
  }

  end(outcome: SettleOutcome | undefined): void {
    unwatch(this)
    this.told.resolve(outcome)
  }
}

/** Returns without an outcome; the settlement continues in the background. */
function giveUp(): undefined {
  return undefined
}

/** Whether the answer waits for the ledger, which decides whether a disconnect is free. */
function needsOutcome(resolution: Resolution): boolean {
  return resolution.kind === 'settle' && resolution.settlement.freePerHour !== undefined
}

/** Keeps the first decision whether a disconnect is free, in case the settlement is sent again to a Redis that lost it. */
function decided(resolution: Resolution, outcome: SettleOutcome | undefined): Resolution {
  if (resolution.kind === 'release' || outcome === undefined) return resolution
  if (resolution.settlement.freePerHour === undefined) return resolution
  const { freePerHour: _, ...settlement } = resolution.settlement
  if (outcome.kind === 'settled') return { kind: 'settle', settlement: { ...settlement, cost: outcome.record.cost } }
  // A settlement after its hold's expiry is charged in full, even if the store has forgotten the expiry.
  return outcome.kind === 'late' ? { kind: 'settle', settlement } : resolution
}

function idOf(resolution: Resolution): string {
  return resolution.kind === 'settle' ? resolution.settlement.holdId : resolution.holdId
}
