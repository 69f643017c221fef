/** The frame of everything that moves money: one transaction, undone where it was refused, and the ledger told after it. */

import type { OrdersDeps } from '@/console/orders/orders'
import type { Transaction } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import type { Credit } from '@/ledger/outcomes'
import { tellLedger } from './orders-within'

/** Adds what the ledger has to hear of to `credits`. */
type MoneyWork<Outcome> = (transaction: Transaction, credits: Credit[]) => Promise<Outcome>

/** A transaction that lost against another one (a deadlock, say) left nothing behind and is run again. */
const MAX_ATTEMPTS = 3

/** Runs `work`. Where the outcome is refused and nothing of it is to be kept, the transaction is undone. */
export async function moveMoney<Outcome extends { kind: string; isKept?: boolean }>(
  deps: OrdersDeps,
  work: MoneyWork<Outcome>,
): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await moveOnce(deps, work)
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || databaseFailure(error) !== 'conflict') throw error
    }
  }
}

async function moveOnce<Outcome extends { kind: string; isKept?: boolean }>(
  deps: OrdersDeps,
  work: MoneyWork<Outcome>,
): Promise<Outcome> {
  const credits: Credit[] = []
  let refused: Outcome | undefined
  let outcome: Outcome
  try {
    outcome = await deps.database.db.transaction(async (transaction) => {
      const result = await work(transaction, credits)
      if (result.kind === 'refused' && !result.isKept) {
        refused = result
        transaction.rollback()
      }
      return result
    })
  } catch (error) {
    if (refused) return refused
    throw error
  }
  await tellLedger(deps, credits)
  return outcome
}
