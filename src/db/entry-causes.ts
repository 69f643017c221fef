/** SQL that finds why a ledger entry was made: shared by account statements and the bookkeeping export. */

/** Joins to `ledger_entries e`. Operators choose any reference, so an entry belongs to an order only if the order names the entry. */
export const ENTRY_CAUSES = `
  LEFT JOIN payments p ON p.entry_id = e.id
  LEFT JOIN reversals r ON r.entry_id = e.id
  LEFT JOIN orders o ON o.account_id = e.account_id AND o.id = coalesce(p.order_id, r.order_id,
    CASE WHEN e.reference LIKE 'refund:%' THEN split_part(e.reference, ':', 2) END)`

/** The kind of an entry, after {@link ENTRY_CAUSES}: each entry has exactly one. */
export const ENTRY_KIND = `CASE
  WHEN p.id IS NOT NULL THEN 'payment'
  WHEN r.id IS NOT NULL THEN r.kind
  WHEN o.id IS NOT NULL AND e.amount_nano < 0 THEN 'refund'
  WHEN e.reference LIKE 'adjustment:%' THEN 'adjustment'
  ELSE e.kind END`
