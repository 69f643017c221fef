/** Sends an order's ledger entry to Redis directly after its commit. If that fails, the outbox sends it. */
import { applyCredit } from '@/accounts/outbox'
import { describeFailure } from '@/db/failure'
import type { Credit } from '@/ledger/outcomes'
import type { OrdersDeps } from './deps'

/** Returns whether the ledger now has the entry. Never throws: Postgres has the entry and an outbox row, which sends it later. */
export async function applyEntry(
  { database, ledger, logger, afterCommit }: OrdersDeps,
  credit: Credit,
): Promise<boolean> {
  if (afterCommit) {
    afterCommit(credit)
    return false
  }
  try {
    const outcome = await applyCredit(database, ledger, credit)
    return outcome.kind !== 'unknown_account'
  } catch (error) {
    const { accountId, entryId } = credit
    logger.warn('order_credit_waits', { accountId, entryId, reason: describeFailure(error) })
    return false
  }
}
