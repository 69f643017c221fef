import { shardByShard } from '@/ledger/holds/renew'
import type { Ledger } from '@/ledger/ledger'
import type { Renewal } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop } from '@/lib/worker-loop'
import type { Metrics } from '@/metrics/metrics'

export interface HoldKeeper extends BackgroundWorker {
  keep(hold: Renewable): void
  forget(hold: Renewable): void
  openCount(): number
}

export interface Renewable {
  /** When the hold must be renewed next, by the monotonic clock; set by the keeper. */
  renewAtMs: number
  readonly accountId: string
  renewal(): Renewal
}

/** Interval of the checks for holds to renew. A new hold's progress is first recorded within this time. */
const TICK_MS = 1_000
/** Interval of renewals of one hold. At least three fit within its lifetime, so that some may fail. */
const RENEW_EVERY_MS = 5_000
const RENEWALS_PER_LIFE = 4
const BATCH_SIZE = 100

/** Renews the holds of this process in batches, with their answers' progress. Holds live `holdTtlMs` (at least 5,000) without a renewal. */
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

  /** Builds renewals right before they are sent, since building thousands at once would block the event loop. */
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
