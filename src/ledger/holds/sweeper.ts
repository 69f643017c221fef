/** The worker that expires holds whose gateway died, shard by shard; any number may run. */
import type { Ledger } from '@/ledger/ledger'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

type SweeperOptions = {
  ledger: Pick<Ledger, 'expireDue'>
  logger: Logger
  /** Pause before the next look at all shards where one has found some, jittered by a quarter; otherwise five times as long. Default 1,000 ms. */
  intervalMs?: number
  /** Default 100. */
  limitPerShard?: number
  /** Told how many holds a sweep has expired, where there were any. */
  onExpired?: (count: number) => void
}

const DEFAULT_INTERVAL_MS = 1_000
/** Holds are past their deadlines where a gateway has died: rarely, and then many together. */
const QUIET_FACTOR = 5
const DEFAULT_LIMIT_PER_SHARD = 100
const JITTER = 0.25

/** Creates a sweeper that is not running yet. Its stop waits for a sweep under way. */
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
