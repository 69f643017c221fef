/** Sign-in addresses: checks whether an address is used or reserved, and changes a person's address. */
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { alertOptOuts } from '@/db/alert-schema'
import { addressChanges, memberships, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { isUniqueViolation } from '@/db/failure'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'

type User = typeof users.$inferSelect

/** Locks and returns the person's row, and locks the accounts that they own. */
export async function lockPerson(transaction: Transaction, userId: string): Promise<User | undefined> {
  // Accounts first, in the same order as everywhere, to avoid deadlocks.
  await transaction
    .select({ id: accounts.id })
    .from(accounts)
    .where(inArray(accounts.id, ownedBy(transaction, userId)))
    .orderBy(accounts.id)
    .for('no key update')
  const [user] = await transaction.select().from(users).where(eq(users.id, userId)).for('update')
  return user
}

/** Whether `email` (lower case) belongs to another person, to another's account, or is reserved for somebody else. */
export async function isTaken(db: Database['db'] | Transaction, email: string, userId: string): Promise<boolean> {
  const [row] = await db.execute<{ isTaken: boolean }>(sql`
    SELECT EXISTS (SELECT FROM users WHERE email = ${email} AND id <> ${userId})
      OR EXISTS (SELECT FROM accounts WHERE lower(email) = ${email} AND kind = 'personal'
        AND id NOT IN (SELECT account_id FROM memberships WHERE user_id = ${userId} AND role = 'owner'))
      OR EXISTS (SELECT FROM address_changes WHERE old_email = ${email} AND undo_until > now() AND user_id <> ${userId})
      AS "isTaken"`)
  return row?.isTaken === true
}

/** Whether `email` (upper or lower case) is reserved, because somebody may still undo a change from this address. */
export async function isKept(db: Database['db'] | Transaction, email: string): Promise<boolean> {
  const isLive = and(eq(addressChanges.oldEmail, email.toLowerCase()), gt(addressChanges.undoUntil, sql`now()`))
  return (await findRow(db, addressChanges, isLive)) !== undefined
}

/** Ends the reservation of `email` (lower case). The change from this address can't be undone any more. */
export async function release(transaction: Transaction, email: string): Promise<void> {
  await transaction.delete(addressChanges).where(eq(addressChanges.oldEmail, email))
}

/** Cancels the person's unconfirmed change, if any. */
export async function voidPending(db: Database['db'] | Transaction, userId: string): Promise<void> {
  const isPending = sql`${addressChanges.confirmedAt} IS NULL`
  await db.delete(addressChanges).where(and(eq(addressChanges.userId, userId), isPending))
}

/** Deletes changes that can neither be confirmed nor undone any more. */
export async function forgetChanges({ sql: query }: Pick<Database, 'sql'>): Promise<void> {
  await query`DELETE FROM address_changes WHERE CASE WHEN confirmed_at IS NULL THEN confirm_until <= now()
    ELSE undo_until IS NULL OR undo_until <= now() END`
}

/**
 * Makes `email` the confirmed address of the person (whose row is locked) and of the accounts that had the former one. Alerts that were
 * turned off stay off. Throws an `isAddressViolation` error if somebody else takes the address at the same moment.
 */
export async function giveAddress(transaction: Transaction, user: Pick<User, 'id' | 'email'>, email: string) {
  await transaction
    .update(users)
    .set({ email, emailVerified: true, updatedAt: new Date() })
    .where(eq(users.id, user.id))
  const isTheirs = inArray(accounts.id, ownedBy(transaction, user.id))
  await transaction
    .update(accounts)
    .set({ email })
    .where(and(eq(sql`lower(${accounts.email})`, user.email), isTheirs))
  const choices = transaction
    .select({ accountId: alertOptOuts.accountId, email: sql<string>`${email}`.as('email'), kind: alertOptOuts.kind })
    .from(alertOptOuts)
    .where(eq(alertOptOuts.email, user.email))
  await transaction.insert(alertOptOuts).select(choices).onConflictDoNothing()
}

/** Whether `error` means that somebody else took an address first. */
export function isAddressViolation(error: unknown): boolean {
  return isUniqueViolation(error, 'users_email_key') || isUniqueViolation(error, 'accounts_email_key')
}

function ownedBy(transaction: Transaction, userId: string) {
  return transaction
    .select({ id: memberships.accountId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')))
}
