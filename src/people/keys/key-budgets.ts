/** The budgets that limit a key, in the form that its page shows. */
import { Type } from '@sinclair/typebox'
import { holds } from '@/accounts/management/scopes'
import { mayDo } from '@/accounts/members/permissions'
import type { Member } from '@/console/auth/viewer'
import { titled } from '@/http/openapi/titled'
import { type BoundBudget, budgetsOfKey } from '@/ledger/bound-budgets'
import { BUDGET_SCOPES, BUDGET_WINDOWS } from '@/ledger/budgets'
import type { Ledger } from '@/ledger/ledger'
import type { KeyUsage } from '@/ledger/outcomes'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const Figure = orNull(Type.String(), {
  description: 'Decimal USD; null for the account’s budget if the viewer may not see it',
})

export const KeyBudgets = Type.Array(
  titled('KeyBudget', {
    scope: oneOf(BUDGET_SCOPES),
    window: oneOf(BUDGET_WINDOWS),
    limitUsd: Figure,
    spentUsd: Figure,
    heldUsd: Figure,
    leftUsd: Figure,
    resetsAt: orNull(Type.String(), { description: 'null: never' }),
  }),
  { description: 'All budgets that bind the key, the one with the least left first' },
)

/** The present budgets that apply to a key; empty while the ledger is unreachable. */
export async function keyBudgets(ledger: Ledger, viewer: Member, key: KeyUsage | undefined, nowMs: number) {
  if (!key) return []
  const now = await ledger.readBudgets(key.accountId, key.keyId).catch(() => undefined)
  const { accountRole, managementScopes } = viewer
  const seesAccount =
    mayDo(accountRole, 'usage.readAll') && (!managementScopes || holds(managementScopes, 'budgets:read'))
  return budgetsOfKey(key, now, nowMs).map((budget) => tell(budget, seesAccount || budget.scope !== 'account'))
}

function tell({ scope, window, limit, spent, held, remaining, resetsAtMs }: BoundBudget, isTold: boolean) {
  return {
    ...{ scope, window },
    limitUsd: isTold ? formatUsd(limit) : null,
    spentUsd: isTold ? formatUsd(spent) : null,
    heldUsd: isTold ? formatUsd(held) : null,
    leftUsd: isTold ? formatUsd(remaining) : null,
    resetsAt: resetsAtMs === undefined ? null : new Date(resetsAtMs).toISOString(),
  }
}
