import { type Nano, nano } from '@/lib/money'
import type { BudgetsNow } from './accounts/read-budgets'
import { BUDGET_SCOPES, BUDGET_WINDOWS, type BudgetScope, type BudgetWindow, windowEnd, windowNumbers } from './budgets'
import type { KeyUsage } from './outcomes'

/** `limit` includes the window's grant; `remaining` may be negative. `resetsAtMs` is undefined if it never resets. */
export type BoundBudget = {
  scope: BudgetScope
  window: BudgetWindow
  limit: Nano
  spent: Nano
  held: Nano
  remaining: Nano
  resetsAtMs: number | undefined
}

/** The budgets that apply to one key, the one with the least remaining first. `nowMs` is the fallback for the time in Redis. */
export function budgetsOfKey(key: KeyUsage, now: BudgetsNow | undefined, nowMs: number): BoundBudget[] {
  const atMs = now?.nowMs ?? nowMs
  const numbers = windowNumbers(atMs)
  const budgets: BoundBudget[] = []
  const add = (scope: BudgetScope, window: BudgetWindow, limit: number, spent: number, held: number) =>
    budgets.push({
      ...{ scope, window, limit: nano(limit), spent: nano(spent), held: nano(held) },
      ...{ remaining: nano(limit - spent - held), resetsAtMs: windowEnd(window, atMs) },
    })
  if (key.monthlyBudget !== null) add('key', 'month', key.monthlyBudget, key.spentThisMonth, key.held)
  for (const [field, { held, windows }] of now?.entries ?? []) {
    const scope = BUDGET_SCOPES.find((name) => field.split(':')[0] === name)
    if (!scope) continue
    for (const window of BUDGET_WINDOWS) {
      const { at, spent, limit, grantAt, grant } = windows[window]
      // A window later than now (the clock was set back) keeps counting, as in the scripts.
      const current = Math.max(at, numbers[window])
      if (limit !== null)
        add(scope, window, limit + (grantAt === current ? grant : 0), at === current ? spent : 0, held)
    }
  }
  return budgets.sort((one, other) => one.remaining - other.remaining)
}
