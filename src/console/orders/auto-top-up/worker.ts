/** The background worker of auto top-ups. Every gateway runs one; a lock ensures that only one of them charges an account. */
import type { Orders } from '@/console/orders/orders'
import { describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

const INTERVAL_MS = 8_000
const JITTER = 1
const STOP_TIMEOUT_MS = 2_000

/** Checks all accounts about every `intervalMs` milliseconds; each pause varies by half. */
export function createTopUpWorker(
  orders: Pick<Orders, 'topUpDue'>,
  logger: Logger,
  intervalMs = INTERVAL_MS,
): BackgroundWorker {
  return createWorkerLoop({
    async round() {
      const charges = await orders.topUpDue()
      if (charges > 0) logger.info('saved_cards_charged', { charges })
      return jittered(intervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('auto_top_up_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    firstPauseMs: jittered(intervalMs, JITTER),
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
}
