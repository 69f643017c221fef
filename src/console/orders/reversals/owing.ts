/** Suspends accounts below zero after a reversal, and checks again when their open requests have ended. */
import { createAccounts } from '@/accounts/accounts'
import type { OrdersDeps } from '@/console/orders/deps'
import { actorName } from '@/console/orders/rows'
import type { ReversalNotice } from '@/console/orders/types'
import { textArray } from '@/db/array-literal'

type Cause = Pick<ReversalNotice, 'kind' | 'externalId' | 'actor'>

/** Longer than any request holds credit, so that a later check sees the final balance. */
const JUDGED_FOR_MS = 24 * 60 * 60 * 1000
const TAKING = ['chargeback', 'refund']
const DECISIONS = ['account.suspend', 'account.activate']

/** Suspends the account if its balance is below zero, and returns true; else returns false. */
export async function suspendIfOwing(deps: OrdersDeps, accountId: string, cause: Cause): Promise<boolean> {
  const balance = await deps.ledger.readBalance(accountId)
  if (!balance || balance.available + balance.held >= 0) return false
  const by = { actor: { userId: null, email: actorName(cause.actor) } }
  const reason = `${cause.kind} ${cause.externalId} left the account below zero`
  await createAccounts(deps.database, deps.ledger).setStatus(accountId, 'suspended', { by, reason })
  return true
}

/**
 * Checks the accounts with a reversal in the last day again, unless their status has changed since the reversal. Returns the number of
 * accounts that it suspended.
 */
export async function suspendOwing(deps: OrdersDeps): Promise<number> {
  const since = new Date(deps.clock.now() - JUDGED_FOR_MS).toISOString()
  const rows = await deps.database.sql<{ account_id: string; kind: ReversalNotice['kind']; external_id: string }[]>`
    SELECT DISTINCT ON (r.account_id) r.account_id, r.kind, r.external_id
    FROM reversals r JOIN accounts a ON a.id = r.account_id
    WHERE r.state = 'applied' AND r.kind = ANY(${textArray(TAKING)}::text::text[]) AND r.moved_cents > 0
      AND r.applied_at > ${since}::text::timestamptz AND a.status = 'active'
      AND NOT EXISTS (SELECT FROM audit_entries e WHERE e.account_id = r.account_id AND e.at >= r.applied_at
        AND e.action = ANY(${textArray(DECISIONS)}::text::text[]))
    ORDER BY r.account_id, r.applied_at DESC`
  const actor = { kind: 'system', name: 'reversals' } as const
  let count = 0
  for (const { account_id: accountId, kind, external_id: externalId } of rows)
    if (await suspendIfOwing(deps, accountId, { kind, externalId, actor })) count += 1
  return count
}
