/** Reads an account's budgets for the ledger, in the same statement as the account, so that both are from one snapshot. */
import type { Sql } from 'postgres'
import type { Database } from '@/db/client'
import { type BudgetScope, type BudgetWindow, spentInWindows } from '@/ledger/budgets'

/** Days to read: the longest window, and some more days for clock differences. */
const DAYS_BACK = 40

/** An SQL expression over `accounts a`: the account's budgets as JSON (the ledger's `AccountBudgets`), null if it has none. */
export function budgetsOf(sql: Sql) {
  const sums = (table: string, column: string) => sql`SELECT day, sum(cost_nano)::bigint AS cost FROM ${sql(table)} d
    WHERE d.account_id = a.id AND d.${sql(column)} = s.scope_id GROUP BY day`
  return sql`CASE WHEN EXISTS (SELECT FROM budgets b WHERE b.account_id = a.id AND b.scope <> 'new_member') THEN json_build_object(
    'scopes', (SELECT json_agg(json_build_object('scope', s.scope, 'scopeId', s.scope_id, 'limits', s.limits,
        'total', c.total, 'days', coalesce(c.days, '[]')))
      FROM (SELECT scope, scope_id,
          json_object_agg("window", json_build_object('limit', limit_nano, 'grant', grant_nano, 'grantAt', grant_at)) AS limits
        FROM budgets WHERE account_id = a.id AND scope <> 'new_member' GROUP BY scope, scope_id) s,
      LATERAL (SELECT coalesce(sum(cost), 0)::bigint AS total,
          json_agg(json_build_array(day - '1970-01-01'::date, cost)) FILTER (WHERE day > now() - ${DAYS_BACK} * interval '1 day') AS days
        FROM (
          SELECT day, cost FROM (${sums('usage_daily', 'account_id')}) o WHERE s.scope = 'account'
          UNION ALL SELECT day, cost FROM (${sums('usage_daily_members', 'member_id')}) o WHERE s.scope = 'member'
          UNION ALL SELECT day, cost FROM (${sums('usage_daily', 'key_id')}) o WHERE s.scope = 'key') charged) c))
    END`
}

type SpentOf = { accountId: string; scope: BudgetScope; scopeId: string }

type DayRow = { day: number; cost: number }

/** The amount that a scope has spent, from the charges in Postgres. The scope belongs to the account `accountId`. */
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
