/**
 * The worker that expires holds whose gateway died, shard by shard. Any number of them may run at once: a hold has one
 * winner.
 */
import type { Ledger } from '@/ledger/ledger'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

type SweeperOptions = {
  ledger: Pick<Ledger, 'expireDue'>
  logger: Logger
  /** Pause between two looks at all shards. Default 1,000 ms, jittered by a quarter. */
  intervalMs?: number
  /** Default 100. */
  limitPerShard?: number
  /** Told how many holds a sweep has expired, where there were any. */
  onExpired?: (count: number) => void
}

const DEFAULT_INTERVAL_MS = 1_000
const DEFAULT_LIMIT_PER_SHARD = 100
const JITTER = 0.25

/** Creates a sweeper that is not running yet. Its stop waits for a sweep under way. */
export function createSweeper(options: SweeperOptions): BackgroundWorker {
  const { ledger, logger, intervalMs = DEFAULT_INTERVAL_MS, limitPerShard = DEFAULT_LIMIT_PER_SHARD } = options
  const pauseMs = () => jittered(intervalMs, JITTER)
  return createWorkerLoop({
    firstPauseMs: pauseMs(),
    async round() {
      const expired = await ledger.expireDue(limitPerShard)
      for (const hold of expired) logger.warn('hold_expired', hold)
      if (expired.length > 0) options.onExpired?.(expired.length)
      return pauseMs()
    },
    onFailure(error) {
      logger.warn('sweep_failed', { error })
      return pauseMs()
    },
  })
}
