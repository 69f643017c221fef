/** The movements of an account statement that are entries of the ledger, each with what it was: the tables of orders say. */
import type { Sql } from 'postgres'
import type { Fragment } from '@/console/usage-views/usage-filter'

/** Days are UTC, both included. The columns are those of a line of the statement. */
export function entryLines(
  sql: Sql,
  { accountId, from, to }: { accountId: string; from: string; to?: string | undefined },
): Fragment {
  const before =
    to === undefined ? sql`` : sql`AND e.created_at < ((${to}::text::date + 1)::timestamp AT TIME ZONE 'UTC')`
  return sql`
    SELECT (e.created_at AT TIME ZONE 'UTC')::date AS day, 0 AS rank,
      (extract(epoch FROM e.created_at) * 1000000)::bigint AS at_micros, e.id AS entry_id,
      ${kindOf(sql)} AS kind, e.amount_nano::numeric AS amount, NULL::numeric AS requests, e.reference,
      o.id AS order_id, o.reference AS order_reference
    FROM ledger_entries e
      LEFT JOIN payments p ON p.entry_id = e.id
      LEFT JOIN reversals r ON r.entry_id = e.id
      LEFT JOIN orders o ON o.account_id = e.account_id AND o.id = coalesce(p.order_id, r.order_id,
        CASE WHEN e.reference LIKE 'refund:%' THEN split_part(e.reference, ':', 2) END)
    WHERE e.account_id = ${accountId} AND e.created_at >= (${from}::text::timestamp AT TIME ZONE 'UTC') ${before}`
}

/** An operator's own reference may look like anything: an entry belongs to an order only where the order knows it. */
function kindOf(sql: Sql): Fragment {
  return sql`CASE
    WHEN p.id IS NOT NULL THEN 'payment'
    WHEN r.id IS NOT NULL THEN r.kind
    WHEN o.id IS NOT NULL AND e.amount_nano < 0 THEN 'refund'
    WHEN e.reference LIKE 'adjustment:%' THEN 'adjustment'
    ELSE e.kind END`
}
