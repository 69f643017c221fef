/** Limits how many uploads and creations of batches run at once, since each reads or writes up to hundreds of megabytes. */
import { GatewayError } from '@/chat/error'
import { createBudget } from '@/lib/quota/budget'
import { SHARED } from '@/limits/shared-resources'

/** Runs `work` when the account has a turn. Throws `overloaded` if it gets none in time. */
export type BatchTurns = <T>(accountId: string, work: () => Promise<T>) => Promise<T>

const WAIT_MS = 5_000
const MAX_WAITING = 100
const MAX_WAITING_EACH = 8

export function createBatchTurns(waitMs = WAIT_MS): BatchTurns {
  const turns = createBudget({
    perSubject: SHARED.batchUploads.perAccount,
    total: SHARED.batchUploads.perProcess,
    maxWaiting: MAX_WAITING,
    maxWaitingEach: MAX_WAITING_EACH,
    waitMs,
  })
  return async (accountId, work) => {
    const turn = await turns.take(accountId, 1)
    if (!turn) {
      throw new GatewayError('overloaded', 'Too many files of batches are being read. Try again.', {
        retryAfterSeconds: 2,
      })
    }
    try {
      return await work()
    } finally {
      turn.release()
    }
  }
}
