import type { Ledger } from '@/ledger/ledger'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

type SweeperOptions = {
  ledger: Pick<Ledger, 'expireDue'>
  logger: Logger
  /** Pause after a sweep that found holds, with 25 % jitter; five times as long otherwise. Default 1,000 ms. */
  intervalMs?: number
  /** Default 100. */
  limitPerShard?: number
  /** Called with the number of expired holds if not 0. */
  onExpired?: (count: number) => void
}

const DEFAULT_INTERVAL_MS = 1_000
/** The pause is longer after an empty sweep: expired holds are rare, and many come together. */
const QUIET_FACTOR = 5
const DEFAULT_LIMIT_PER_SHARD = 100
const JITTER = 0.25

/** The worker that expires holds of dead gateways, shard by shard; any number may run. Stopping waits for a running sweep. */
export function createSweeper(options: SweeperOptions): BackgroundWorker {
  const { ledger, logger, intervalMs = DEFAULT_INTERVAL_MS, limitPerShard = DEFAULT_LIMIT_PER_SHARD } = options
  const pauseMs = (found: number) => jittered(found > 0 ? intervalMs : intervalMs * QUIET_FACTOR, JITTER)
  return createWorkerLoop({
    firstPauseMs: pauseMs(0),
    async round() {
      const expired = await ledger.expireDue(limitPerShard)
      for (const hold of expired) logger.warn('hold_expired', hold)
      if (expired.length > 0) options.onExpired?.(expired.length)
      return pauseMs(expired.length)
    },
    onFailure(error) {
      logger.warn('sweep_failed', { error })
      return pauseMs(1)
    },
  })
}
