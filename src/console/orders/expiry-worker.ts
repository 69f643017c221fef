/**
 * The background worker of orders: asks the provider about overdue orders, expires them, and suspends accounts that are below zero after a
 * reversal. Every gateway runs one; locks prevent that two of them handle the same order.
 */
import { describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import type { Orders } from './orders'

const INTERVAL_MS = 30_000
/** Pauses are 0.5 to 1.5 times the interval, chosen at random, since many processes poll the same orders. */
const JITTER = 1
const ROUND_SIZE = 100
const STOP_TIMEOUT_MS = 2_000

/** Handles due orders every `intervalMs` milliseconds, and at once if more are due. Stopping takes at most two seconds. */
export function createExpiryWorker(
  orders: Pick<Orders, 'settleDue' | 'expireDue' | 'suspendOwing'>,
  logger: Logger,
  intervalMs = INTERVAL_MS,
): BackgroundWorker {
  return createWorkerLoop({
    async round() {
      const asked = await orders.settleDue(ROUND_SIZE)
      if (asked > 0) logger.info('deposits_looked_up', { orders: asked })
      const expired = await orders.expireDue(ROUND_SIZE)
      if (expired > 0) logger.info('orders_expired', { orders: expired })
      const suspended = await orders.suspendOwing()
      if (suspended > 0) logger.warn('accounts_suspended_for_debt', { accounts: suspended })
      return expired === ROUND_SIZE || asked === ROUND_SIZE ? 0 : jittered(intervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('order_expiry_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
}
