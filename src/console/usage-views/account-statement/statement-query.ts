import type { Sql } from 'postgres'
import type { Fragment } from '@/console/usage-views/usage-filter'
import { ENTRY_CAUSES, ENTRY_KIND } from '@/db/entry-causes'

/** The sort key of a movement: day, entries before usage, then time and id. */
export type StatementPlace = { day: string; rank: number; atMicros: number; entryId: string }

/** Days are UTC, yyyy-mm-dd, inclusive. Without `to`, the period ends with the latest movement. */
export type StatementPeriod = { accountId: string; from: string; to?: string | undefined }

/** The SQL of an account statement, one snapshot: a row of sums with up to `limit` movements after `after`; no row without an account. */
export function statementQuery(
  sql: Sql,
  { accountId, from, to }: StatementPeriod,
  after: StatementPlace | undefined,
  limit: number,
): Fragment {
  const place = after ?? { day: from, rank: -1, atMicros: 0, entryId: '' }
  return sql`
    WITH before AS (
      SELECT coalesce((SELECT sum(amount_nano) FROM ledger_entries
          WHERE account_id = ${accountId} AND created_at < ${startOf(sql, from)}), 0)
        - coalesce((SELECT sum(cost_nano) FROM usage_daily
          WHERE account_id = ${accountId} AND day < ${from}::text::date), 0) AS balance),
    lines AS (
      ${entryLines(sql, { accountId, from, to })}
      UNION ALL
      SELECT day, 1 AS rank, 0::bigint AS at_micros, '' AS entry_id, 'usage' AS kind, -sum(cost_nano) AS amount,
        sum(requests) AS requests, NULL AS reference, NULL AS order_id, NULL AS order_reference
      FROM usage_daily
      WHERE account_id = ${accountId} AND day >= ${from}::text::date ${to === undefined ? sql`` : sql`AND day <= ${to}::text::date`}
      GROUP BY day HAVING sum(cost_nano) <> 0),
    running AS MATERIALIZED (
      SELECT *, (SELECT balance FROM before) + sum(amount) OVER (ORDER BY day, rank, at_micros, entry_id) AS balance
      FROM lines),
    page AS (
      SELECT * FROM running
      WHERE (day, rank, at_micros, entry_id) >
        (${place.day}::text::date, ${place.rank}::text::integer, ${place.atMicros}::text::bigint, ${place.entryId}::text)
      ORDER BY day, rank, at_micros, entry_id LIMIT ${limit})
    SELECT (SELECT balance FROM before)::bigint AS opening, a.balance_nano::bigint AS "historyBalance", sums.*,
      (SELECT json_agg(json_build_object('day', day, 'rank', rank, 'atMicros', at_micros, 'entryId', entry_id, 'kind', kind,
          'amount', amount, 'balance', balance, 'requests', requests, 'reference', reference, 'orderId', order_id,
          'orderReference', order_reference) ORDER BY day, rank, at_micros, entry_id) FROM page) AS movements
    FROM accounts a, LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE rank = 0 AND amount > 0), 0)::bigint AS credited,
        coalesce(-sum(amount) FILTER (WHERE rank = 0 AND amount < 0), 0)::bigint AS "takenBack",
        coalesce(-sum(amount) FILTER (WHERE rank = 1), 0)::bigint AS spent, count(*) AS count
      FROM running) sums
    WHERE a.id = ${accountId}`
}

function startOf(sql: Sql, day: string): Fragment {
  return sql`(${day}::text::timestamp AT TIME ZONE 'UTC')`
}

/** The SQL that reads ledger entries as lines of the statement. Days are UTC, inclusive. */
function entryLines(
  sql: Sql,
  { accountId, from, to }: { accountId: string; from: string; to?: string | undefined },
): Fragment {
  const before =
    to === undefined ? sql`` : sql`AND e.created_at < ((${to}::text::date + 1)::timestamp AT TIME ZONE 'UTC')`
  return sql`
    SELECT (e.created_at AT TIME ZONE 'UTC')::date AS day, 0 AS rank,
      (extract(epoch FROM e.created_at) * 1000000)::bigint AS at_micros, e.id AS entry_id,
      ${sql.unsafe(ENTRY_KIND)} AS kind, e.amount_nano::numeric AS amount, NULL::numeric AS requests, e.reference,
      o.id AS order_id, o.reference AS order_reference
    FROM ledger_entries e ${sql.unsafe(ENTRY_CAUSES)}
    WHERE e.account_id = ${accountId} AND e.created_at >= (${from}::text::timestamp AT TIME ZONE 'UTC') ${before}`
}
