/** The two-person rule: a day's sum of what one administrator moves, over all accounts, credit and debit alike; and nothing for accounts of their own. */
import { and, eq, gt, ne, sql } from 'drizzle-orm'
import { roleIn } from '@/accounts/members/memberships'
import type { Administrator } from '@/console/administration/administrator'
import { unapprovedMovements } from '@/db/administration-schema'
import type { Transaction } from '@/db/client'
import type { Nano } from '@/lib/money'

type Movement = {
  requestId: string
  requestDigest: string
  userId: string
  accountId: string
  kind: string
  /** A magnitude: positive. */
  amount: Nano
}

/** `within`: it may be done at once, and counts from now on. `above`: a second administrator has to agree. */
type MovementVerdict = 'within' | 'above'

/** Counts `movement` unless that would exceed `limit`. Movements of one administrator take turns until they commit. */
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
        // A repetition of the same request counts once.
        ne(unapprovedMovements.requestId, requestId),
        gt(unapprovedMovements.createdAt, sql`now() - interval '24 hours'`),
      ),
    )
  if (Number(day?.sum ?? 0) + amount > limit) return 'above'
  await transaction.insert(unapprovedMovements).values(movement).onConflictDoNothing()
  return 'within'
}

/** Takes back a movement that was counted and then refused. */
export async function forgetMovement(transaction: Transaction, requestId: string): Promise<void> {
  await transaction.delete(unapprovedMovements).where(eq(unapprovedMovements.requestId, requestId))
}

/** True if the administrator is a member of the account, in whatever role. */
export async function isTheirs(
  transaction: Transaction,
  accountId: string | null,
  { userId }: Administrator,
): Promise<boolean> {
  return accountId !== null && (await roleIn(transaction, accountId, userId)) !== undefined
}
