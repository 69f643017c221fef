/** Computes an account's budgets from Postgres, and writes them to Redis. */
import { BUDGET_WINDOWS, type BudgetSnapshot, type BudgetWindow, spentInWindows, windowNumbers } from '@/ledger/budgets'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { accountName, budgetsName, deadlinesName, holdMember, NO_KEY, shardOf } from '@/ledger/store/names'
import { wordOf } from '@/ledger/store/reply'
import type { RecordEnvelope } from '@/ledger/usage-record'
import type { AccountView, ViewDeps } from './account-view'
import { UNLIMITED } from './stored-budgets'

const MS_PER_DAY = 86_400_000

/** The hash field that stores the budgets of one account, member or key. */
export function budgetField({ scope, scopeId }: Pick<BudgetSnapshot, 'scope' | 'scopeId'>): string {
  return scope === 'account' ? scope : `${scope}:${scopeId}`
}

/** Updates an account's budgets to match a view of it. `changed`: the account has changed meanwhile or has new entries; view it again. */
export async function applyBudgets(
  { runner }: Pick<ViewDeps, 'runner'>,
  view: AccountView,
): Promise<'loaded' | 'changed'> {
  const { accountId, history, budgets, isConfirmed, staleHolds, nowMs } = view
  if (!history?.budgets && !budgets) return 'loaded'
  const shard = shardOf(accountId)
  const now = windowNumbers(nowMs)
  const entries = (history?.budgets?.scopes ?? []).map((snapshot) => {
    const field = budgetField(snapshot)
    const spent = spentOf(view, snapshot)
    const each = (value: (window: BudgetWindow) => number) => BUDGET_WINDOWS.map((window) => String(value(window)))
    return {
      field,
      base: budgets?.entries.get(field)?.windows.total.spent,
      spent: each((window) => spent[window]),
      limits: each((window) => snapshot.limits[window]?.limit ?? UNLIMITED),
      grants: each((window) => snapshot.limits[window]?.grant ?? 0),
      grantAt: each((window) => snapshot.limits[window]?.grantAt ?? 0),
    }
  })
  const plan = {
    ...{ version: String(budgets?.version ?? 0), windows: BUDGET_WINDOWS.map((window) => now[window]), isConfirmed },
    entries,
    stale: staleHolds.filter(({ keyId }) => keyId !== NO_KEY).map(holdMember),
  }
  const names = [accountName(accountId), deadlinesName(shard), budgetsName(accountId)]
  return wordOf(await runner.run(SCRIPTS.loadBudgets, names, [accountId, JSON.stringify(plan)])) as 'loaded' | 'changed'
}

/** A scope's spending in each current window: charges in Postgres plus those still in the stream. */
export function spentOf(view: AccountView, snapshot: BudgetSnapshot): Record<BudgetWindow, number> {
  const own = view.unsynced.filter((record) => isOf(record, snapshot))
  const cost = own.reduce((sum, record) => sum + record.cost, 0)
  const days = own.map((record) => [Math.floor(record.atMs / MS_PER_DAY), record.cost] as const)
  return spentInWindows({ total: snapshot.total + cost, days: [...snapshot.days, ...days] }, view.nowMs)
}

function isOf({ keyId, memberId }: RecordEnvelope, { scope, scopeId }: BudgetSnapshot): boolean {
  if (scope === 'account') return true
  if (scope === 'key') return keyId === scopeId
  return memberId === scopeId
}
