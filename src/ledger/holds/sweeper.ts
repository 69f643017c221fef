/** The worker that expires holds whose gateway died. Any number of them may run at once: a hold has one winner. */

import type { Ledger } from '@/ledger/ledger'
import type { Logger } from '@/lib/logger'

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

interface Sweeper {
  start(): void
  /** Stops, and waits for a sweep under way. */
  stop(): Promise<void>
}

const DEFAULT_INTERVAL_MS = 1_000
const DEFAULT_LIMIT_PER_SHARD = 100
const JITTER = 0.25

/** Creates a sweeper that is not running yet. */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { ledger, logger, intervalMs = DEFAULT_INTERVAL_MS, limitPerShard = DEFAULT_LIMIT_PER_SHARD } = options
  let timer: Timer | undefined
  let sweep: Promise<void> | undefined
  let isStopped = true

  async function run(): Promise<void> {
    try {
      const expired = await ledger.expireDue(limitPerShard)
      for (const hold of expired) logger.warn('hold_expired', hold)
      if (expired.length > 0) options.onExpired?.(expired.length)
    } catch (error) {
      logger.warn('sweep_failed', { error })
    }
  }

  function schedule(): void {
    const pause = intervalMs * (1 - JITTER / 2 + Math.random() * JITTER)
    timer = setTimeout(() => {
      sweep = run().finally(() => {
        if (!isStopped) schedule()
      })
    }, pause)
  }

  return {
    start() {
      if (!isStopped) return
      isStopped = false
      schedule()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await sweep
    },
  }
}
