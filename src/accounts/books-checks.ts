/**
 * Checks that every movement of credit is recorded once and unaltered. Compares each ledger entry with the copy that was sent to the
 * ledger, and each payment and reversal with its order's history and its ledger entry. Each violation names the day (UTC).
 */

const NANO_PER_CENT = 10_000_000

/** The credit of each payment, and the credit that each reversal took or gave back. */
const MOVED = `
  SELECT entry_id, account_id, credited_cents::bigint AS cents, coalesce(resolved_at, received_at) AS at, 'payment ' || id AS name
  FROM payments WHERE entry_id IS NOT NULL
  UNION ALL
  SELECT entry_id, account_id, CASE kind WHEN 'reinstatement' THEN 1 ELSE -1 END * moved_cents, applied_at, kind || ' ' || id
  FROM reversals WHERE entry_id IS NOT NULL`

/** Changes of credit in the orders' history (`order_events`). Only this table has refunds by administrators. */
const NOTED = `
  SELECT v.entry_id, o.account_id, CASE WHEN v.kind IN ('paid', 'reinstated') THEN 1 ELSE -1 END * v.amount_cents::bigint AS cents,
    v.created_at AS at, v.kind, o.id AS order_id
  FROM order_events v JOIN orders o ON o.id = v.order_id WHERE v.entry_id IS NOT NULL`

/** Cents as text in nano-USD. */
const nanoOf = (cents: string) => `coalesce((${cents} * ${NANO_PER_CENT})::text, 'nothing')`

const dayOf = (moment: string) => `(${moment} AT TIME ZONE 'UTC')::date`

/** The checks. Their time grows with the number of ledger entries, which are few compared with requests. */
export const BOOKS_CHECKS = [
  {
    kind: 'entry_differs',
    statement: `
      SELECT coalesce(e.account_id, s.account_id), format('%s: entry %s over %s, sent to the ledger as %s',
        ${dayOf('coalesce(e.created_at, s.created_at)')}, coalesce(e.id, s.entry_id), coalesce(e.amount_nano::text, 'nothing'),
        coalesce(s.amount_nano::text, 'nothing'))
      FROM ledger_entries e FULL JOIN credit_outbox s ON s.entry_id = e.id
      WHERE (e.account_id, e.amount_nano) IS DISTINCT FROM (s.account_id, s.amount_nano)
        OR ${dayOf('e.created_at')} <> ${dayOf('s.created_at')}`,
  },
  {
    kind: 'purchase_differs',
    statement: `
      SELECT coalesce(n.account_id, m.account_id, e.account_id), format('%s: %s over %s, in the history of %s over %s, entry %s over %s',
        ${dayOf('coalesce(e.created_at, n.at, m.at)')}, coalesce(m.name, 'no payment or reversal'), ${nanoOf('m.cents')},
        coalesce(n.order_id, 'no order'), ${nanoOf('n.cents')}, entry_id, coalesce(e.amount_nano::text, 'nothing'))
      FROM (${MOVED}) m FULL JOIN (${NOTED}) n USING (entry_id) LEFT JOIN ledger_entries e ON e.id = entry_id
      WHERE (e.account_id, e.amount_nano) IS DISTINCT FROM (n.account_id, n.cents * ${NANO_PER_CENT})
        OR (m.account_id, m.cents) IS DISTINCT FROM (n.account_id, n.cents) AND (m.name IS NOT NULL OR n.kind <> 'refunded')`,
  },
  {
    kind: 'order_sum_differs',
    statement: `
      SELECT o.account_id, format('%s: order %s paid %s, its payments %s', ${dayOf('coalesce(o.paid_at, o.created_at)')}, o.id,
        o.paid_cents * ${NANO_PER_CENT}, coalesce(p.cents, 0) * ${NANO_PER_CENT})
      FROM orders o LEFT JOIN (SELECT order_id, sum(credited_cents) AS cents FROM payments GROUP BY 1) p ON p.order_id = o.id
      WHERE o.paid_cents <> coalesce(p.cents, 0)`,
  },
]
