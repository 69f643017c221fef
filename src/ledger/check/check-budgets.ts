import type { AccountView } from '@/ledger/accounts/account-view'
import { budgetField, spentOf } from '@/ledger/accounts/budgets'
import { BUDGET_WINDOWS, windowNumbers } from '@/ledger/budgets'
import { NO_KEY } from '@/ledger/store/names'

/** Compares an account's budgets: held amounts with its open holds, charges with Postgres. No violations without budgets. */
export function brokenBudgets(view: AccountView): { kind: string; detail: string }[] {
  const { budgets, history } = view
  if (!budgets) return []
  const broken: { kind: string; detail: string }[] = []
  const report = (kind: string, detail: string) => broken.push({ kind, detail })
  const holds = view.openHolds.filter(({ keyId }) => keyId !== NO_KEY)
  const isHeld = holds.every(({ holdId, keyId, amount }) => {
    const noted = budgets.holds.get(holdId)
    return noted?.keyId === keyId && noted.amount === amount
  })
  if (!isHeld || holds.length !== budgets.holds.size) {
    report('budget_holds', `${holds.length} open holds, ${budgets.holds.size} in budgets`)
  }
  const now = windowNumbers(view.nowMs)
  for (const snapshot of history?.budgets?.scopes ?? []) {
    const field = budgetField(snapshot)
    const entry = budgets.entries.get(field)
    if (!entry) continue
    const held = [...budgets.holds.values()]
      .filter(({ keyId, memberId }) => ['account', `key:${keyId}`, `member:${memberId}`].includes(field))
      .reduce((sum, { amount }) => sum + amount, 0)
    if (held !== entry.held) report('budget_held', `${field}: counts ${entry.held}, holds ${held}`)
    const spent = spentOf(view, snapshot)
    for (const window of BUDGET_WINDOWS) {
      const stored = entry.windows[window]
      const counted = stored.at >= now[window] ? stored.spent : 0
      if (counted !== spent[window])
        report('budget_spent', `${field} ${window}: store ${counted}; history ${spent[window]}`)
    }
  }
  return broken
}
