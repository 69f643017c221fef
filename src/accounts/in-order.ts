/** Serialises work on an account: changes of its row, and writes of accounts and keys to the ledger, in the order of Postgres. */
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'

/** Runs `work` while no other process does so for `subject`: the ledger then gets the latest change last. */
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
