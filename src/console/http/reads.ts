/** Limits concurrent reads per account, so that one account's pages and programs don't block others. */
import { GatewayError } from '@/chat/error'
import { createBudget, type Lease } from '@/lib/quota/budget'
import { SHARED } from '@/limits/shared-resources'

export interface Reads {
  begin(request: Request, accountId: string): Promise<void>
  end(request: Request): void
}

const WAIT_MS = 5_000
const MAX_WAITING = 1_000
const MAX_WAITING_EACH = 100
const RETRY_AFTER_SECONDS = 2

export function createReads(): Reads {
  const turns = createBudget({
    perSubject: SHARED.reads.perAccount,
    total: SHARED.reads.perProcess,
    ...{ waitMs: WAIT_MS, maxWaiting: MAX_WAITING, maxWaitingEach: MAX_WAITING_EACH },
  })
  const leases = new WeakMap<Request, Lease>()
  return {
    async begin(request, accountId) {
      const lease = await turns.take(accountId, 1)
      if (!lease) {
        throw new GatewayError('overloaded', 'Too many pages of this account are being read. Try again.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      leases.set(request, lease)
    },
    end(request) {
      leases.get(request)?.release()
      leases.delete(request)
    },
  }
}
