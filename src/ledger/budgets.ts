/** Budgets: the most that an account, member or key spends per day, week (from Monday), month, or in total. Windows are in UTC. */
import type { Nano } from '@/lib/money'

export const BUDGET_SCOPES = ['account', 'member', 'key'] as const
export type BudgetScope = (typeof BUDGET_SCOPES)[number]

/** From the shortest window to the longest. The window `total` never ends. */
export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total'] as const
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number]

/** `grant` is added to `limit` only in the window with the number `grantAt`. */
type BudgetLimit = { limit: Nano; grant: Nano; grantAt: number }
export type BudgetLimits = Partial<Record<BudgetWindow, BudgetLimit>>

/** The budgets of one account, member or key, as in Postgres. For the scope `account`, `scopeId` is the account's id. */
export type BudgetSnapshot = {
  scope: BudgetScope
  scopeId: string
  limits: BudgetLimits
  /** All charges ever. */
  total: number
  /** The charges of each day (a number since 1970), for as many days as the windows need. */
  days: (readonly [day: number, cost: number])[]
}

export type AccountBudgets = { scopes: BudgetSnapshot[] }

const MS_PER_DAY = 86_400_000
/** 1970 began on a Thursday. */
const DAYS_SINCE_MONDAY = 3
const DAYS_PER_WEEK = 7

/** The window numbers at a time (milliseconds since 1970), as in the scripts: days and weeks since 1970, months as yyyymm. */
export function windowNumbers(ms: number): Record<BudgetWindow, number> {
  const day = Math.floor(ms / MS_PER_DAY)
  const date = new Date(ms)
  const month = date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
  return { day, week: Math.floor((day + DAYS_SINCE_MONDAY) / DAYS_PER_WEEK), month, total: 0 }
}

/** The end of the current window in milliseconds since 1970; undefined if it never ends. */
export function windowEnd(window: BudgetWindow, ms: number): number | undefined {
  const { day, week } = windowNumbers(ms)
  const date = new Date(ms)
  switch (window) {
    case 'day':
      return (day + 1) * MS_PER_DAY
    case 'week':
      return ((week + 1) * DAYS_PER_WEEK - DAYS_SINCE_MONDAY) * MS_PER_DAY
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    case 'total':
      return undefined
  }
}

/** The charges in each window that is current at `ms`, from the `days` of a {@link BudgetSnapshot}. */
export function spentInWindows(
  { days, total }: Pick<BudgetSnapshot, 'days' | 'total'>,
  ms: number,
): Record<BudgetWindow, number> {
  const now = windowNumbers(ms)
  const spent = { day: 0, week: 0, month: 0, total }
  for (const [day, cost] of days) {
    const then = windowNumbers(day * MS_PER_DAY)
    for (const window of ['day', 'week', 'month'] as const) if (then[window] === now[window]) spent[window] += cost
  }
  return spent
}
