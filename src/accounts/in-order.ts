/**
 * Takes turns, so that the ledger is told of changes to accounts and keys in the order in which the history has them.
 */
import { sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'

/** Runs `work` while no other process does so for `subject`, so that the last change is what the ledger is told last. */
export async function inOrder(
  { db }: Database,
  subject: string,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${subject}, 0))`)
    await work(transaction)
  })
}
