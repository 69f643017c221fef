/** Credit that an operator key adds: once per reference, within the daily limit. Above the limit, an administrator must approve. */
import { eq } from 'drizzle-orm'
import type { Administrator } from '@/console/administration/administrator'
import { type ApprovalStatus, approvals } from '@/db/administration-schema'
import { findRow } from '@/db/find-row'
import { ledgerEntries } from '@/db/schema'
import type { Nano } from '@/lib/money'
import { requestIdOf } from './operation'
import { type MoneyDeps, requestOperation } from './request-operation'

/** `amount` is not zero. `reference` has 1 to 200 characters. */
type OperatorCredit = { accountId: string; amount: Nano; reference: string }

export type OperatorCreditOutcome =
  /** The credit was added: now, or by an earlier call of any operator key with this reference and amount. */
  | { kind: 'credited' }
  | { kind: 'unknown_account' }
  /** The reference was used for another amount, or for another account. */
  | { kind: 'reference_taken' | 'reference_elsewhere' }
  | { kind: 'awaiting_approval'; approvalId: string }
  /** An administrator refused, or none decided in time. The reference cannot be used again. */
  | { kind: 'not_approved'; approvalId: string; status: ApprovalStatus }
  | { kind: 'refused'; message: string }

/** Adds `credit` once, even if several operator keys send it several times. */
export async function addOperatorCredit(
  deps: MoneyDeps,
  operator: Administrator,
  { accountId, amount, reference }: OperatorCredit,
): Promise<OperatorCreditOutcome> {
  const earlier = await findEarlier(deps, { accountId, amount, reference })
  if (earlier) return earlier
  const outcome = await requestOperation(deps, operator, {
    operation: { kind: 'credit.add', accountId, amountNano: amount, reference },
    reason: `Reference ${reference}`,
    requestId: requestIdOf('operator', JSON.stringify([accountId, reference])),
  })
  switch (outcome.kind) {
    case 'done':
      return { kind: 'credited' }
    case 'not_found':
      return { kind: 'unknown_account' }
    case 'refused':
      // Another call used the reference meanwhile, or an approval for another amount waits.
      return (await findEarlier(deps, { accountId, amount, reference })) ?? outcome
    case 'awaiting_approval': {
      const { approvalId } = outcome
      const approval = await findRow(deps.database.db, approvals, eq(approvals.id, approvalId))
      const status = approval?.status ?? 'pending'
      return status === 'pending' ? outcome : { kind: 'not_approved', approvalId, status }
    }
  }
}

/** Finds an earlier credit with this reference, and returns the outcome that it means for this call. */
async function findEarlier(
  { database: { db } }: MoneyDeps,
  { accountId, amount, reference }: OperatorCredit,
): Promise<OperatorCreditOutcome | undefined> {
  const entries = await db
    .select({ accountId: ledgerEntries.accountId, amount: ledgerEntries.amount })
    .from(ledgerEntries)
    .where(eq(ledgerEntries.reference, reference))
  const own = entries.find((entry) => entry.accountId === accountId)
  if (own) return { kind: own.amount === amount ? 'credited' : 'reference_taken' }
  return entries.length > 0 ? { kind: 'reference_elsewhere' } : undefined
}
