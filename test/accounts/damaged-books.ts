/** Damage to the books that is undone at once, so that many tests share one database. */
import type { TransactionSql } from 'postgres'
import { type ReconcileDepth, reconcileHistory } from '@/accounts/reconcile'
import type { Database } from '@/db/client'
import type { Violation } from '@/ledger/check/violation'

/** What the check of the books finds after `damage`, which is undone then. */
export async function violationsAfter(
  database: Database,
  depth: ReconcileDepth,
  damage: (transaction: TransactionSql) => Promise<unknown>,
): Promise<Violation[]> {
  const undone = new Error('undone')
  let violations: Violation[] = []
  const attempt = database.sql.begin(async (transaction) => {
    await damage(transaction)
    // The check reads in a transaction of its own: this one is part of it.
    const inside = {
      ...database,
      sql: { begin: (_: string, work: (sql: typeof transaction) => unknown) => work(transaction) },
    }
    violations = (await reconcileHistory(inside as unknown as Database, depth)).violations
    throw undone
  })
  await attempt.catch((error) => {
    if (error !== undone) throw error
  })
  return violations
}
