import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { deleteExpired } from './rows'

const INTERVAL_MS = 600_000
const JITTER = 1
const ROUND_SIZE = 500
const ROUND_TIMEOUT_MS = 8_000
const STOP_TIMEOUT_MS = 2_000

/** Deletes expired stored answers every `intervalMs`, and at once while there are more; gateways skip each other's rows. */
export function createExpiryWorker(database: Database, logger: Logger, intervalMs = INTERVAL_MS): BackgroundWorker {
  return createWorkerLoop({
    async round() {
      const deleted = await withDatabaseDeadline(deleteExpired(database, ROUND_SIZE), ROUND_TIMEOUT_MS)
      if (deleted > 0) logger.info('stored_responses_expired', { deleted })
      return deleted === ROUND_SIZE ? 0 : jittered(intervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('stored_response_expiry_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
}
