/** The two-person rule: a daily limit of what one administrator moves, credits plus debits. Their own accounts always need two. */
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
  /** The absolute amount. */
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

/** Uncounts a movement that was refused afterwards. */
export async function forgetMovement(transaction: Transaction, requestId: string): Promise<void> {
  await transaction.delete(unapprovedMovements).where(eq(unapprovedMovements.requestId, requestId))
}

/** Whether the administrator is a member of the account, in any role. */
export async function isTheirs(
  transaction: Transaction,
  accountId: string | null,
  { userId }: Administrator,
): Promise<boolean> {
  return accountId !== null && (await roleIn(transaction, accountId, userId)) !== undefined
}
