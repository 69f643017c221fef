import { budgetsOf } from '@/accounts/budgets/budget-history'
import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { type AccountBudgets, BUDGET_WINDOWS, spentInWindows, windowNumbers } from '@/ledger/budgets'
import { type BudgetFigure, EMPTY, type Figures } from './crossings'
import { DEFAULT_THRESHOLDS, THRESHOLDS } from './thresholds'

/** The number of days before today from which the median is computed. */
const DAYS_BEFORE = 14

type Row = {
  id: string
  name: string
  balance: number
  spent: number
  budgets: AccountBudgets | null
  days: { before: number; cost: number }[] | null
  isSet: boolean
  first: number | null
  second: number | null
}
type KeyRow = { accountId: string; id: string; name: string; owner: string | null; spent: number; limit: number | null }
type MemberRow = { accountId: string; id: string; name: string }

/** Reads the figures that decide accounts' alerts, from one Postgres snapshot. Unknown accounts are omitted. */
export async function readFigures({ sql }: Database, accountIds: readonly string[], nowMs: number): Promise<Figures[]> {
  const { day, month } = windowNumbers(nowMs)
  const asked = textArray(accountIds)
  const rows = await sql<Row[]>`
    SELECT a.id, a.name, a.balance_nano::bigint AS balance, a.spent_nano::bigint AS spent, ${budgetsOf(sql)} AS budgets,
      (SELECT json_agg(json_build_object('before', before, 'cost', cost)) FROM (
        SELECT ${day}::int - (d.day - '1970-01-01'::date) AS before, sum(cost_nano)::bigint AS cost FROM usage_daily d
        WHERE d.account_id = a.id
          AND d.day BETWEEN '1970-01-01'::date + (${day}::int - ${DAYS_BEFORE}::int) AND '1970-01-01'::date + ${day}::int
        GROUP BY d.day) c) AS days,
      s.account_id IS NOT NULL AS "isSet", s.first_nano::bigint AS first, s.second_nano::bigint AS second
    FROM unnest(${asked}::text::text[]) own (id) JOIN accounts a USING (id)
      LEFT JOIN alert_settings s ON s.account_id = a.id`
  // Keys without a budget are omitted.
  const keys = await sql<KeyRow[]>`
    SELECT account_id AS "accountId", id, name, created_by AS owner, monthly_budget_nano::bigint AS limit,
      CASE WHEN spent_month = ${month} THEN spent_month_nano ELSE 0 END::bigint AS spent
    FROM unnest(${asked}::text::text[]) own (account_id) JOIN api_keys k USING (account_id)
    WHERE status = 'active' AND (monthly_budget_nano IS NOT NULL
      OR EXISTS (SELECT FROM budgets b WHERE b.account_id = k.account_id AND b.scope = 'key' AND b.scope_id = k.id))`
  const withBudgets = rows.filter(({ budgets }) => budgets).map(({ id }) => id)
  const members =
    withBudgets.length === 0
      ? []
      : await sql<MemberRow[]>`
    SELECT m.account_id AS "accountId", u.id, u.name FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.account_id = ANY(${textArray(withBudgets)}::text::text[])`
  const [keysOf, membersOf] = [Map.groupBy(keys, ofAccount), Map.groupBy(members, ofAccount)]
  return rows.map(({ id, name: accountName, balance, spent, budgets, days, isSet, first, second }) => {
    const people = { keys: keysOf.get(id) ?? [], members: membersOf.get(id) ?? [] }
    return {
      ...{ accountId: id, accountName, balance, spent, days: daysOf(days ?? []) },
      thresholds: thresholdsOf(isSet ? { first, second } : DEFAULT_THRESHOLDS),
      budgets: [...scopesOf(budgets, people, nowMs), ...monthlyOf(people.keys)],
    }
  })
}

const ofAccount = ({ accountId }: { accountId: string }) => accountId

function daysOf(spent: readonly { before: number; cost: number }[]): number[] {
  const days = Array.from({ length: DAYS_BEFORE + 1 }, () => 0)
  for (const { before, cost } of spent) days[before] = cost
  return days
}

function thresholdsOf({ first, second }: Pick<Row, 'first' | 'second'>): Figures['thresholds'] {
  return [
    ...(first === null ? [] : [{ name: THRESHOLDS[0].name, threshold: first }]),
    ...(second === null ? [] : [{ name: THRESHOLDS[1].name, threshold: second }]),
    EMPTY,
  ]
}

type People = { keys: readonly KeyRow[]; members: readonly MemberRow[] }

function scopesOf(budgets: AccountBudgets | null, { keys, members }: People, nowMs: number): BudgetFigure[] {
  const now = windowNumbers(nowMs)
  return (budgets?.scopes ?? []).flatMap((snapshot) => {
    const { scope, scopeId, limits } = snapshot
    const key = scope === 'key' ? keys.find(({ id }) => id === scopeId) : undefined
    const member = scope === 'member' ? members.find(({ id }) => id === scopeId) : undefined
    // No alert for a deleted key or a departed member.
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

/** The monthly budgets of keys, which are stored among the keys' limits. */
function monthlyOf(keys: readonly KeyRow[]): BudgetFigure[] {
  return keys.flatMap(({ id: scopeId, name: scopeName, owner: memberId, spent, limit }) =>
    limit === null
      ? []
      : [{ scope: 'key' as const, scopeId, scopeName, memberId, window: 'month' as const, spent, limit }],
  )
}
