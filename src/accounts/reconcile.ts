import type { TransactionSql } from 'postgres'
import type { Database } from '@/db/client'
import type { Violation } from '@/ledger/check/violation'
import { ARCHIVE_RECORD_CHECKS, ARCHIVE_SUM_CHECKS, IN_ARCHIVED_MONTH } from './archive-checks'
import { BOOKS_CHECKS } from './books-checks'

/** `sums` compares balances with daily sums and can run every few minutes. `records` also reads every usage record. */
export type ReconcileDepth = 'sums' | 'records'

type ReconcileReport = { violations: Violation[]; accounts: number }

/** Violations listed per kind, to keep the output short. */
const MAX_VIOLATIONS_PER_KIND = 100
/** After this time, a credit that the outbox could not apply is a violation. */
const OUTBOX_PATIENCE_SECONDS = 60

/** Checks one Postgres snapshot for consistency: every stored sum against its entries, and states that must not occur. */
export async function reconcileHistory({ sql }: Database, depth: ReconcileDepth): Promise<ReconcileReport> {
  return await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    await transaction`SET LOCAL statement_timeout = 0`
    const checks = depth === 'records' ? [...SUM_CHECKS, ...RECORD_CHECKS] : SUM_CHECKS
    const violations: Violation[] = []
    for (const check of checks) violations.push(...(await run(transaction, check)))
    const [row] = await transaction<{ accounts: number }[]>`SELECT count(*) AS accounts FROM accounts`
    return { violations, accounts: row?.accounts ?? 0 }
  })
}

type Check = { kind: string; statement: string }

/** Every statement returns one row per violation, with the columns `account_id` (if any) and `detail`. */
async function run(transaction: TransactionSql, { kind, statement }: Check): Promise<Violation[]> {
  const rows = await transaction.unsafe<{ account_id: string | null; detail: string }[]>(
    `SELECT account_id, detail FROM (${statement}) AS found (account_id, detail) LIMIT ${MAX_VIOLATIONS_PER_KIND}`,
  )
  return rows.map(({ account_id: accountId, detail }) => ({
    kind,
    ...(accountId === null ? {} : { accountId }),
    detail,
  }))
}

const SUM_CHECKS: readonly Check[] = [
  {
    kind: 'history_balance_differs',
    statement: `
      SELECT a.id, format('balance %s, spent %s; credits %s, charges %s', a.balance_nano, a.spent_nano,
        coalesce(credits.amount, 0), coalesce(charges.amount, 0))
      FROM accounts a
      LEFT JOIN (SELECT account_id, sum(amount_nano) AS amount FROM ledger_entries GROUP BY 1) credits ON credits.account_id = a.id
      LEFT JOIN (SELECT account_id, sum(cost_nano) AS amount FROM usage_daily GROUP BY 1) charges ON charges.account_id = a.id
      WHERE a.balance_nano <> coalesce(credits.amount, 0) - coalesce(charges.amount, 0)
        OR a.spent_nano <> coalesce(charges.amount, 0)`,
  },
  {
    kind: 'charges_without_account',
    statement: `
      SELECT d.account_id, format('%s requests, charges %s', sum(d.requests), sum(d.cost_nano)) FROM usage_daily d
      WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = d.account_id) GROUP BY d.account_id`,
  },
  {
    kind: 'dead_letter',
    statement: `
      SELECT account_id, format('%s of %s (event %s): %s', entry_id, stream, event_id, error) FROM dead_letters
      WHERE NOT is_booked ORDER BY created_at`,
  },
  {
    kind: 'credit_not_applied',
    statement: `
      SELECT account_id, format('entry %s over %s', entry_id, amount_nano) FROM credit_outbox
      WHERE applied_at IS NULL AND created_at < now() - interval '${OUTBOX_PATIENCE_SECONDS} seconds'`,
  },
  {
    kind: 'ledger_entries_not_protected',
    statement: `
      SELECT NULL::text, 'the trigger that refuses changes is missing or disabled' WHERE NOT EXISTS (
        SELECT 1 FROM pg_trigger WHERE tgrelid = 'ledger_entries'::regclass
          AND tgname = 'ledger_entries_append_only' AND tgenabled <> 'D')`,
  },
  {
    kind: 'transfer_differs',
    statement: `
      SELECT t.from_account_id, format('%s over %s: took %s, gave %s', t.id, t.amount_nano, -d.amount_nano, c.amount_nano)
      FROM credit_transfers t
      LEFT JOIN ledger_entries d ON (d.id, d.account_id, d.kind) = (t.debit_entry_id, t.from_account_id, 'transfer')
      LEFT JOIN ledger_entries c ON (c.id, c.account_id, c.kind) = (t.credit_entry_id, t.to_account_id, 'transfer')
      WHERE d.amount_nano IS DISTINCT FROM -t.amount_nano OR c.amount_nano IS DISTINCT FROM t.amount_nano
      UNION ALL
      SELECT account_id, format('entry %s over %s is of no transfer', id, amount_nano) FROM ledger_entries
      WHERE kind = 'transfer'
        AND id NOT IN (SELECT debit_entry_id FROM credit_transfers UNION ALL SELECT credit_entry_id FROM credit_transfers)`,
  },
  ...BOOKS_CHECKS,
  ...ARCHIVE_SUM_CHECKS,
]

/** Live and archived records together, so that a second charge is found even if one of the records is archived. */
const ALL_RECORDS = `(SELECT event_id, hold_id, account_id, kind, cost_nano, settled_at FROM usage_records
  UNION ALL SELECT event_id, hold_id, account_id, kind, cost_nano, settled_at FROM archived_usage_records) AS all_records`

const RECORD_CHECKS: readonly Check[] = [
  {
    kind: 'daily_sum_differs',
    statement: `
      SELECT account_id, format('%s, %s: %s requests over %s (provider %s), summed as %s over %s (provider %s)', day, model,
        records.requests, records.charges, records.bills, days.requests, days.charges, days.bills)
      FROM (SELECT account_id, (settled_at AT TIME ZONE 'UTC')::date AS day, count(*) FILTER (WHERE kind <> 'late') AS requests,
          sum(cost_nano) AS charges, coalesce(sum(output_tokens) FILTER (WHERE kind <> 'late'), 0) AS output,
          sum(provider_cost_nano) AS bills, sum(cost_nano) FILTER (WHERE provider_cost_nano IS NOT NULL) AS costed, model
        FROM usage_records GROUP BY account_id, day, model) records
      FULL JOIN (SELECT account_id, day, model, sum(requests) AS requests, sum(cost_nano) AS charges, sum(output_tokens) AS output,
          sum(provider_cost_nano) AS bills, sum(costed_nano) AS costed
        FROM usage_daily WHERE NOT (${IN_ARCHIVED_MONTH}) GROUP BY account_id, day, model) days USING (account_id, day, model)
      WHERE (records.requests, records.charges, records.output, records.bills, records.costed)
        IS DISTINCT FROM (days.requests, days.charges, days.output, days.bills, days.costed)`,
  },
  {
    // A day with too many combinations of tags sums the remaining ones in a row without tags.
    kind: 'tag_sum_differs',
    statement: `
      WITH crowded AS (SELECT DISTINCT account_id, day FROM usage_daily_tags WHERE tags = ''),
      records AS (SELECT account_id, (settled_at AT TIME ZONE 'UTC')::date AS day, array_to_string(tags, ',') AS tags, model,
          count(*) FILTER (WHERE kind <> 'late') AS requests, sum(cost_nano) AS charges,
          coalesce(sum(output_tokens) FILTER (WHERE kind <> 'late'), 0) AS output
        FROM usage_records WHERE cardinality(tags) > 0 GROUP BY 1, 2, 3, 4)
      SELECT account_id, format('%s, %s, tags %s: %s requests over %s, summed as %s over %s', day, model, tags,
        records.requests, records.charges, days.requests, days.charges)
      FROM (SELECT account_id, day, CASE WHEN c IS NULL THEN tags ELSE '' END AS tags, model, sum(requests) AS requests,
          sum(charges) AS charges, sum(output) AS output
        FROM records LEFT JOIN crowded c USING (account_id, day) GROUP BY 1, 2, 3, 4) records
      FULL JOIN (SELECT account_id, day, CASE WHEN c IS NULL THEN tags ELSE '' END AS tags, model, sum(requests) AS requests,
          sum(cost_nano) AS charges, sum(output_tokens) AS output
        FROM usage_daily_tags LEFT JOIN crowded c USING (account_id, day) WHERE NOT (${IN_ARCHIVED_MONTH}) GROUP BY 1, 2, 3, 4) days
        USING (account_id, day, tags, model)
      WHERE (records.requests, records.charges, records.output) IS DISTINCT FROM (days.requests, days.charges, days.output)`,
  },
  {
    kind: 'event_counted_twice',
    statement: `
      SELECT min(account_id), format('%s: %s records', event_id, count(*)) FROM ${ALL_RECORDS}
      GROUP BY event_id HAVING count(*) > 1`,
  },
  {
    // An expired hold may later get one correcting record. Any other second record of a hold is a double charge.
    kind: 'hold_charged_twice',
    statement: `
      SELECT min(account_id), format('%s: %s', hold_id, string_agg(format('%s %s', kind, cost_nano), ', ' ORDER BY settled_at))
      FROM ${ALL_RECORDS} GROUP BY hold_id HAVING count(*) > 1
        AND (count(*) > 2 OR bool_or(kind = 'settle') OR count(DISTINCT kind) < 2)`,
  },
  {
    kind: 'charged_more_than_held',
    statement: `
      SELECT account_id, format('%s: charged %s, held %s', event_id, cost_nano, held_nano) FROM usage_records
      WHERE cost_nano > held_nano AND NOT flags && ARRAY['overrun', 'late', 'forced']`,
  },
  ...ARCHIVE_RECORD_CHECKS,
]
