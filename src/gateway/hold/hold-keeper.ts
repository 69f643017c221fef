/** Keeps the holds of this process alive: renews them in batches, each with the progress of its answer so far. */
import { shardByShard } from '@/ledger/holds/renew'
import type { Ledger } from '@/ledger/ledger'
import type { Renewal } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop } from '@/lib/worker-loop'
import type { Metrics } from '@/metrics/metrics'

export interface HoldKeeper extends BackgroundWorker {
  /** Starts renewing a hold whose upstream was reached. */
  keep(hold: Renewable): void
  forget(hold: Renewable): void
  openCount(): number
}

/** A hold that is open. */
export interface Renewable {
  /** When it is to be renewed next, by the monotonic clock; the keeper's own note. */
  renewAtMs: number
  readonly accountId: string
  /** The current values to record. */
  renewal(): Renewal
}

/** How often open holds are looked over; also how soon a new one's progress is first recorded. */
const TICK_MS = 1_000
/** How often one hold is renewed after that; at least three times within its time to live, so that some may fail. */
const RENEW_EVERY_MS = 5_000
const RENEWALS_PER_LIFE = 4
const BATCH_SIZE = 100

/** Creates the keeper of one process, for holds that live `holdTtlMs` (5,000 or more) without a renewal. */
export function createHoldKeeper(
  ledger: Pick<Ledger, 'renew'>,
  clock: Clock,
  logger: Logger,
  holdTtlMs: number,
  metrics: Pick<Metrics, 'renewalFailed'>,
): HoldKeeper {
  const renewEveryMs = Math.min(RENEW_EVERY_MS, holdTtlMs / RENEWALS_PER_LIFE)
  const open = new Set<Renewable>()
  const { start, stop } = createWorkerLoop({
    firstPauseMs: TICK_MS,
    async round() {
      await renewDue()
      return TICK_MS
    },
    onFailure(error) {
      metrics.renewalFailed()
      logger.warn('renewal_failed', { openHolds: open.size, error })
      return TICK_MS
    },
  })

  /** Built right before sending: building thousands at once would block the event loop. */
  async function renewDue(): Promise<void> {
    const nowMs = clock.monotonic()
    const due = shardByShard([...open].filter((hold) => hold.renewAtMs <= nowMs))
    for (let start = 0; start < due.length; start += BATCH_SIZE) {
      const batch = due.slice(start, start + BATCH_SIZE).filter((hold) => open.has(hold))
      for (const hold of batch) hold.renewAtMs = nowMs + renewEveryMs
      await ledger.renew(batch.map((hold) => hold.renewal()))
    }
  }

  return {
    keep(hold) {
      hold.renewAtMs = clock.monotonic() + TICK_MS / 2
      open.add(hold)
    },
    forget: (hold) => open.delete(hold),
    openCount: () => open.size,
    start,
    stop,
  }
}
