/** Takes turns over an account: changes of its row, and writes of accounts and keys to the ledger, in the order of the history. */
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'

/** Runs `work` while no other process does so for `subject`, so that the ledger gets the last change last. */
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

/** The account's row, which no other transaction changes until this one ends; undefined if there is none. */
export async function lockAccount(
  transaction: Transaction,
  accountId: string,
): Promise<typeof accounts.$inferSelect | undefined> {
  const [row] = await transaction.select().from(accounts).where(eq(accounts.id, accountId)).for('no key update')
  return row
}
