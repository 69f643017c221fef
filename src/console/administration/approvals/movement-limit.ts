/**
 * The two-person rule: a daily limit of the credits plus debits of one administrator or operator key. An administrator's own account always
 * needs two people.
 */
import { and, eq, gt, ne, sql } from 'drizzle-orm'
import { roleIn } from '@/accounts/members/memberships'
import type { Administrator } from '@/console/administration/administrator'
import { unapprovedMovements } from '@/db/administration-schema'
import { memberships, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import type { Nano } from '@/lib/money'

type Movement = {
  requestId: string
  requestDigest: string
  userId: string
  accountId: string
  kind: string
  /** The amount without its sign. */
  amount: Nano
}

/** `within`: allowed, and now counted. `above`: a second administrator must agree. */
type MovementVerdict = 'within' | 'above'

/** Counts `movement` unless it would exceed `limit`. Calls for the same administrator run one at a time until they commit. */
export async function countMovement(
  transaction: Transaction,
  movement: Movement,
  limit: Nano,
): Promise<MovementVerdict> {
  const { userId, requestId, amount } = movement
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`movements ${userId}`}, 0))`)
  const [day] = await transaction
    .select({ sum: sql<string>`coalesce(sum(${unapprovedMovements.amount}::bigint), 0)::text` })
    .from(unapprovedMovements)
    .where(
      and(
        eq(unapprovedMovements.userId, userId),
        ne(unapprovedMovements.requestId, requestId),
        gt(unapprovedMovements.createdAt, sql`now() - interval '24 hours'`),
      ),
    )
  if (Number(day?.sum ?? 0) + amount > limit) return 'above'
  await transaction.insert(unapprovedMovements).values(movement).onConflictDoNothing()
  return 'within'
}

/** Takes a movement out of the count if it was refused after it was counted. */
export async function forgetMovement(transaction: Transaction, requestId: string): Promise<void> {
  await transaction.delete(unapprovedMovements).where(eq(unapprovedMovements.requestId, requestId))
}

/** Whether the administrator is a member of the account, in any role. For an operator key: whether any administrator is a member. */
export async function isTheirs(
  transaction: Transaction,
  accountId: string | null,
  { userId, operatorKeyId }: Administrator,
): Promise<boolean> {
  if (accountId === null) return false
  if (operatorKeyId === undefined) return (await roleIn(transaction, accountId, userId)) !== undefined
  const isAdministrators = and(eq(memberships.accountId, accountId), eq(users.role, 'admin'))
  const [row] = await transaction
    .select({ userId: users.id })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(isAdministrators)
    .limit(1)
  return row !== undefined
}
