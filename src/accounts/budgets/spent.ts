/** What a scope without a budget has spent in each window, by the history: shown before it is given one. */
import type { Database } from '@/db/client'
import { type BudgetScope, type BudgetWindow, spentInWindows } from '@/ledger/budgets'

export type SpentOf = { accountId: string; scope: BudgetScope; scopeId: string }

type DayRow = { day: number; cost: number }

/** Up to what has been booked by now. Every scope is of the account `accountId`. */
export async function spentByHistory(
  { sql }: Database,
  { accountId, scope, scopeId }: SpentOf,
  nowMs: number,
): Promise<Record<BudgetWindow, number>> {
  const table = sql(scope === 'member' ? 'usage_daily_members' : 'usage_daily')
  const own = { account: sql`account_id`, member: sql`member_id`, key: sql`key_id` }[scope]
  const days = await sql<DayRow[]>`SELECT day - '1970-01-01'::date AS day, sum(cost_nano)::bigint AS cost FROM ${table}
    WHERE account_id = ${accountId} AND ${own} = ${scopeId} GROUP BY day`
  const total = days.reduce((sum, { cost }) => sum + cost, 0)
  return spentInWindows({ total, days: days.map(({ day, cost }) => [day, cost] as const) }, nowMs)
}
