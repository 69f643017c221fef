import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { deleteExpired } from './lines'

const INTERVAL_MS = 600_000
const JITTER = 1
/** Batches and files to delete in one round: few, since a batch is deleted with up to 100,000 lines. */
const ROUND_SIZE = 5
const ROUND_TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 2_000

/** Deletes expired batches and files, and those that were never completed. Gateways skip each other's rows. */
export function createBatchExpiry(database: Database, logger: Logger, intervalMs = INTERVAL_MS): BackgroundWorker {
  return createWorkerLoop({
    async round() {
      const deleted = await withDatabaseDeadline(deleteExpired(database, ROUND_SIZE), ROUND_TIMEOUT_MS)
      if (deleted > 0) logger.info('batches_expired', { deleted })
      return deleted >= ROUND_SIZE ? 0 : jittered(intervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('batch_expiry_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
}
