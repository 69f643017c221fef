import { endWithheld } from '@/accounts/debits'
import type { OrdersDeps } from '@/console/orders/orders'
import type { Transaction } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import type { Ledger } from '@/ledger/ledger'
import type { Credit, Withheld } from '@/ledger/outcomes'
import { tellLedger } from './orders-within'

/** Collects in `credits` the entries to send to the ledger after the commit. Withholds debits through `ledger` before the commit. */
type MoneyWork<Outcome> = (transaction: Transaction, credits: Credit[], ledger: Ledger) => Promise<Outcome>

/** After a conflict with another transaction (such as a deadlock) the transaction is repeated. */
const MAX_ATTEMPTS = 3

/** Runs `work`, which moves money, in one transaction; then informs the ledger. A refusal without `isKept` is rolled back. */
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
  const withheld: Withheld[] = []
  const ledger = ledgerWithin(deps.ledger, withheld)
  let refused: Outcome | undefined
  let outcome: Outcome
  try {
    outcome = await deps.database.db.transaction(async (transaction) => {
      const result = await work(transaction, credits, ledger)
      if (result.kind === 'refused' && !result.isKept) {
        refused = result
        transaction.rollback()
      }
      return result
    })
  } catch (error) {
    for (const debit of withheld) await endWithheld(deps.ledger, debit)
    if (refused) return refused
    throw error
  }
  await tellLedger(deps, credits)
  const applied = new Set(credits.map(({ entryId }) => entryId))
  for (const debit of withheld) if (!applied.has(debit.entryId)) await endWithheld(deps.ledger, debit)
  return outcome
}

/** Like `ledger`, but lists each withheld debit in `withheld`: a debit can be ended only after the transaction. */
function ledgerWithin(ledger: Ledger, withheld: Withheld[]): Ledger {
  return {
    ...ledger,
    withhold(withholding) {
      withheld.push(withholding)
      return ledger.withhold(withholding)
    },
    resolveWithheld: async () => 'undecided',
  }
}
