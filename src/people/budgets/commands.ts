/** The operator command for budgets of accounts, members and keys. */
import { createBudgets } from '@/accounts/budgets/budgets'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readBudget, readText } from '@/cli/values'
import { BUDGET_WINDOWS, type BudgetWindow } from '@/ledger/budgets'
import { formatUsd, type Nano } from '@/lib/money'

export const BUDGET_COMMANDS: readonly Command[] = [
  {
    words: 'account budgets',
    help: 'sets the budgets of an account, a member or a key, and lists all; `none` = no limit',
    options: {
      account: required('ID', 'the account'),
      member: optional('ID', 'of this member, instead of the account'),
      key: optional('ID', 'of this key; its budget of the month is a limit of the key'),
      day: optional('USD', 'left out, it stays'),
      week: optional('USD', 'from Monday; left out, it stays'),
      month: optional('USD', 'left out, it stays'),
      total: optional('USD', 'left out, it stays'),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const scope = scopeOf(values, accountId)
      const limits = readLimits(values)
      if (scope.scope === 'key' && limits.month !== undefined) fail('--month is a limit of the key: see key create')
      return async ({ database, ledger, accounts, by }) => {
        if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
        const budgets = createBudgets(database, ledger)
        if (Object.keys(limits).length > 0) {
          const outcome = await budgets.change({ accountId, ...scope, limits, by })
          if (outcome.kind === 'unknown') fail(`no such ${scope.scope} in the account: ${scope.scopeId}`)
          if (outcome.kind === 'above_larger') fail(`--${outcome.smaller} may not be above --${outcome.larger}`)
        }
        const all = await budgets.list(accountId)
        const output = all.map(({ limits: own, ...of }) => ({ ...of, ...usdOf(own) }))
        return { output: { accountId, budgets: output } }
      }
    },
  },
]

function scopeOf({ member, key }: Values, accountId: string) {
  if (member !== undefined && key !== undefined) fail('either --member or --key, not both')
  if (member !== undefined) return { scope: 'member' as const, scopeId: member }
  return key === undefined ? { scope: 'account' as const, scopeId: accountId } : { scope: 'key' as const, scopeId: key }
}

function readLimits(values: Values): Partial<Record<BudgetWindow, Nano | null>> {
  const given = BUDGET_WINDOWS.filter((window) => values[window] !== undefined)
  return Object.fromEntries(given.map((window) => [window, readBudget(values, window)]))
}

function usdOf(limits: Partial<Record<BudgetWindow, { limit: Nano }>>): Record<string, string> {
  const set = BUDGET_WINDOWS.flatMap((window) => {
    const own = limits[window]
    return own ? [[`${window}Usd`, formatUsd(own.limit)]] : []
  })
  return Object.fromEntries(set)
}
