/** Adds members to an organisation, each person only once, and within the limits per account and per person. */
import { and, eq } from 'drizzle-orm'
import { lockAccount } from '@/accounts/in-order'
import { type AccountRole, memberships, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'

export const MAX_OWNED_ACCOUNTS = 10
export const MAX_MEMBERS = 500

export type AdmissionRefusal = { kind: 'already_member' | 'too_many_members' | 'too_many_owned' }

/** Locks the account, so that changes of its members run one at a time. Returns whether it is an organisation. */
export async function lockOrganisation(transaction: Transaction, accountId: string): Promise<boolean> {
  return (await lockAccount(transaction, accountId))?.kind === 'organisation'
}

/** Adds the person to the organisation. The caller must have locked its row. */
export async function admit(
  transaction: Transaction,
  accountId: string,
  userId: string,
  role: AccountRole,
): Promise<AdmissionRefusal | undefined> {
  const refusal = await refuseOwner(transaction, userId, role)
  if (refusal) return refusal
  const members = await transaction.$count(memberships, eq(memberships.accountId, accountId))
  if (members >= MAX_MEMBERS) return { kind: 'too_many_members' }
  const inserted = await transaction
    .insert(memberships)
    .values({ accountId, userId, role })
    .onConflictDoNothing()
    .returning({ userId: memberships.userId })
  return inserted.length === 0 ? { kind: 'already_member' } : undefined
}

/** Refuses a person who owns too many accounts. The person's row is locked, so that two simultaneous changes cannot exceed the limit. */
export async function refuseOwner(
  transaction: Transaction,
  userId: string,
  role: AccountRole,
): Promise<AdmissionRefusal | undefined> {
  if (role !== 'owner') return undefined
  await transaction.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update')
  const isOwned = and(eq(memberships.userId, userId), eq(memberships.role, 'owner'))
  const owned = await transaction.$count(memberships, isOwned)
  return owned < MAX_OWNED_ACCOUNTS ? undefined : { kind: 'too_many_owned' }
}
