/** Expires overdue orders in the background. Every gateway runs one; they leave each other's orders alone. */
import { describeFailure } from '@/db/failure'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { createPause } from '@/lib/pause'
import type { Orders } from './orders'

export interface ExpiryWorker {
  start(): void
  /** Resolves once the round that is running has ended, or after two seconds. */
  stop(): Promise<void>
}

const INTERVAL_MS = 30_000
const ROUND_SIZE = 100
const STOP_TIMEOUT_MS = 2_000

/** Looks every `intervalMs` milliseconds, and again at once while there is more. */
export function createExpiryWorker(
  orders: Pick<Orders, 'expireDue'>,
  logger: Logger,
  intervalMs = INTERVAL_MS,
): ExpiryWorker {
  const pause = createPause()
  let loop: Promise<void> | undefined
  let isStopping = false

  async function run(): Promise<void> {
    while (!isStopping) {
      const expired = await expireRound(orders, logger)
      if (expired === ROUND_SIZE) continue
      // Spread out, so that many processes don't look at the same moment.
      await pause.wait(intervalMs * (0.5 + Math.random()))
    }
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      isStopping = true
      pause.end()
      if (loop) await withDeadline(loop, STOP_TIMEOUT_MS, () => undefined)
    },
  }
}

async function expireRound(orders: Pick<Orders, 'expireDue'>, logger: Logger): Promise<number> {
  try {
    const expired = await orders.expireDue(ROUND_SIZE)
    if (expired > 0) logger.info('orders_expired', { orders: expired })
    return expired
  } catch (error) {
    logger.warn('order_expiry_failed', { reason: describeFailure(error) })
    return 0
  }
}
