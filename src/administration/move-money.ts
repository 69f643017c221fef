/** The frame of everything that moves money: one transaction, undone where it was refused, and the ledger told after it. */
import type { Transaction } from '@/db/client'
import type { Credit } from '@/ledger/outcomes'
import type { OrdersDeps } from '@/orders/orders'
import { tellLedger } from './orders-within'

/**
 * Runs `work`, which adds what the ledger has to hear of to `credits`. Where the outcome is refused and nothing of it is to be
 * kept, the transaction is undone.
 */
export async function moveMoney<Outcome extends { kind: string; isKept?: boolean }>(
  deps: OrdersDeps,
  work: (transaction: Transaction, credits: Credit[]) => Promise<Outcome>,
): Promise<Outcome> {
  const credits: Credit[] = []
  let refused: Outcome | undefined
  try {
    const outcome = await deps.database.db.transaction(async (transaction) => {
      const result = await work(transaction, credits)
      if (result.kind === 'refused' && !result.isKept) {
        refused = result
        transaction.rollback()
      }
      return result
    })
    await tellLedger(deps, credits)
    return outcome
  } catch (error) {
    if (refused) return refused
    throw error
  }
}
