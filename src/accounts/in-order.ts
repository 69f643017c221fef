/** Locks that keep an order: changes of an account's row, and writes to the ledger in the order of the changes in Postgres. */
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'

/** Runs `work` under a lock on `subject`, one process at a time, so that the ledger gets the latest change last. */
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

/** Locks the account's row until the transaction ends; undefined if there is none. */
export async function lockAccount(
  transaction: Transaction,
  accountId: string,
): Promise<typeof accounts.$inferSelect | undefined> {
  const [row] = await transaction.select().from(accounts).where(eq(accounts.id, accountId)).for('no key update')
  return row
}
