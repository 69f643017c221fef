/** What the alerts of an account go by, as the history has it. */
import { budgetsOf } from '@/accounts/budgets/budget-history'
import type { Database } from '@/db/client'
import { type AccountBudgets, BUDGET_WINDOWS, spentInWindows, windowNumbers } from '@/ledger/budgets'
import { type BudgetFigure, EMPTY, type Figures } from './crossings'
import { type AlertSettings, readSettings } from './settings'

/** Days before today that the median is of. */
const DAYS_BEFORE = 14

type Row = { name: string; balance: number; spent: number; budgets: AccountBudgets | null; days: number[] }
type KeyRow = { id: string; name: string; owner: string | null; spent: number; limit: number | null }

/** Undefined where there is no such account. */
export async function readFigures(database: Database, accountId: string, nowMs: number): Promise<Figures | undefined> {
  const { sql } = database
  const { day, month } = windowNumbers(nowMs)
  const [row] = await sql<Row[]>`
    SELECT a.name, a.balance_nano::bigint AS balance, a.spent_nano::bigint AS spent, ${budgetsOf(sql)} AS budgets,
      (SELECT json_agg(coalesce(cost, 0) ORDER BY n) FROM generate_series(0, ${DAYS_BEFORE}::int) n LEFT JOIN LATERAL (
        SELECT sum(cost_nano)::bigint AS cost FROM usage_daily d
        WHERE d.account_id = a.id AND d.day = '1970-01-01'::date + (${day}::int - n)) c ON true) AS days
    FROM accounts a WHERE a.id = ${accountId}`
  if (!row) return undefined
  const keys = await sql<KeyRow[]>`
    SELECT id, name, created_by AS owner, monthly_budget_nano::bigint AS limit,
      CASE WHEN spent_month = ${month} THEN spent_month_nano ELSE 0 END::bigint AS spent
    FROM api_keys WHERE account_id = ${accountId} AND status = 'active'`
  const members = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM users JOIN memberships ON user_id = users.id WHERE memberships.account_id = ${accountId}`
  const { name: accountName, balance, spent, days } = row
  return {
    ...{ accountId, accountName, balance, spent, days },
    thresholds: thresholdsOf(await readSettings(database.db, accountId)),
    budgets: [...scopesOf(row.budgets, { keys, members }, nowMs), ...monthlyOf(keys)],
  }
}

function thresholdsOf({ first, second }: AlertSettings): Figures['thresholds'] {
  return [
    ...(first === null ? [] : [{ name: 'balance:first', threshold: first }]),
    ...(second === null ? [] : [{ name: 'balance:second', threshold: second }]),
    EMPTY,
  ]
}

type People = { keys: readonly KeyRow[]; members: readonly { id: string; name: string }[] }

function scopesOf(budgets: AccountBudgets | null, { keys, members }: People, nowMs: number): BudgetFigure[] {
  const now = windowNumbers(nowMs)
  return (budgets?.scopes ?? []).flatMap((snapshot) => {
    const { scope, scopeId, limits } = snapshot
    const key = scope === 'key' ? keys.find(({ id }) => id === scopeId) : undefined
    const member = scope === 'member' ? members.find(({ id }) => id === scopeId) : undefined
    // Of a key that was deleted, and of somebody who has left, nobody wants to hear.
    if (scope !== 'account' && !key && !member) return []
    const spent = spentInWindows(snapshot, nowMs)
    const whose = {
      scope,
      scopeId,
      scopeName: key?.name ?? member?.name ?? '',
      memberId: key?.owner ?? member?.id ?? null,
    }
    return BUDGET_WINDOWS.flatMap((window) => {
      const own = limits[window]
      if (!own) return []
      const limit = own.limit + (own.grantAt === now[window] ? own.grant : 0)
      return [{ ...whose, window, spent: spent[window], limit }]
    })
  })
}

/** A key's budget of the month is one of its own limits. */
function monthlyOf(keys: readonly KeyRow[]): BudgetFigure[] {
  return keys.flatMap(({ id: scopeId, name: scopeName, owner: memberId, spent, limit }) =>
    limit === null
      ? []
      : [{ scope: 'key' as const, scopeId, scopeName, memberId, window: 'month' as const, spent, limit }],
  )
}
