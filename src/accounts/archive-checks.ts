/** Checks of archived months: checkpoints are unaltered, and daily sums and remaining records equal the checkpoints. */
import { CHECKPOINTS_DIGEST, dayDigestsQuery, daySumsQuery, recordSumsQuery } from '@/db/usage-archive'

const PRESENT = `
  SELECT m.month FROM archived_months m JOIN pg_class c ON c.relname = 'archived_usage_records_' || to_char(m.month, 'YYYYMM')
    JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = 'archived_usage_records'::regclass`

/** A condition on `usage_daily`: its day is in a month that has checkpoints. */
const IN_SEALED_MONTH = `date_trunc('month', day::timestamp)::date IN (SELECT month FROM archived_months)`

/** An SQL condition on `usage_daily`: the day's month is archived. */
export const IN_ARCHIVED_MONTH = `date_trunc('month', day::timestamp)::date IN
  (SELECT month FROM archived_months WHERE archived_at IS NOT NULL)`

const named = (month: string) => `to_char(${month}, 'YYYY-MM')`

/** Checks that compare only sums. Their time grows with the number of accounts and days. */
export const ARCHIVE_SUM_CHECKS = [
  {
    kind: 'checkpoints_altered',
    statement: `
      SELECT NULL::text, format('%s: sealed as %s of %s records over %s, is %s of %s over %s', ${named('month')}, m.digest, m.records,
        m.charges_nano, c.digest, c.records, c.charges)
      FROM archived_months m
      FULL JOIN (SELECT month, ${CHECKPOINTS_DIGEST} AS digest, sum(records) AS records, sum(cost_nano) AS charges, count(*) AS accounts
        FROM usage_checkpoints GROUP BY month) c USING (month)
      WHERE m.digest IS NULL OR (m.records, m.charges_nano, m.accounts) IS DISTINCT FROM
          (coalesce(c.records, 0), coalesce(c.charges, 0), coalesce(c.accounts, 0))
        OR (c.digest IS NOT NULL AND m.digest <> c.digest)`,
  },
  {
    kind: 'archived_sum_differs',
    statement: `
      SELECT account_id, format('%s: sealed as %s requests over %s (provider %s), summed as %s over %s (provider %s)', ${named('month')},
        c.requests, c.cost_nano, c.provider_cost_nano, d.requests, d.cost_nano, d.provider_cost_nano)
      FROM usage_checkpoints c FULL JOIN (${daySumsQuery(IN_SEALED_MONTH)}) d USING (account_id, month)
      WHERE (c.requests, c.cost_nano, c.output_tokens, c.provider_cost_nano)
        IS DISTINCT FROM (d.requests, d.cost_nano, d.output_tokens, d.provider_cost_nano)`,
  },
  {
    kind: 'archived_month_missing',
    statement: `
      SELECT NULL::text, format('%s: its records are gone, and nobody has said that they were dropped', ${named('month')})
      FROM archived_months WHERE archived_at IS NOT NULL AND dropped_at IS NULL AND month NOT IN (${PRESENT})`,
  },
  {
    kind: 'record_in_archived_month',
    statement: `
      SELECT account_id, format('%s of %s is among the live records', event_id, settled_at) FROM usage_records
      WHERE settled_at < (SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' FROM archived_months WHERE archived_at IS NOT NULL)`,
  },
  {
    kind: 'archive_not_protected',
    statement: `
      SELECT NULL::text, format('%s: the triggers that refuse changes are missing or disabled', relname)
      FROM (SELECT c.oid, relname, 2 AS wanted FROM pg_class c JOIN pg_inherits ON inhrelid = c.oid
          WHERE inhparent = 'archived_usage_records'::regclass
        UNION ALL SELECT 'usage_checkpoints'::regclass, 'usage_checkpoints', 1) guarded
      WHERE wanted > (SELECT count(*) FROM pg_trigger WHERE tgrelid = guarded.oid AND tgenabled IN ('O', 'A')
        AND tgname IN ('usage_checkpoints_append_only', 'closed_month_rows', 'closed_month_whole'))
      UNION ALL
      SELECT NULL::text, 'records of archived months could be booked once more: usage_records_not_archived is missing or wrong'
      FROM (SELECT max(month) AS month FROM archived_months WHERE archived_at IS NOT NULL HAVING count(*) > 0) last
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'usage_records_default'::regclass
        AND conname = 'usage_records_not_archived' AND convalidated
        AND position(to_char(last.month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' IN pg_get_constraintdef(oid)) > 0)`,
  },
]

/** Checks that read every archived record still in Postgres, and all daily sums of the records' months. */
export const ARCHIVE_RECORD_CHECKS = [
  {
    kind: 'archived_records_altered',
    statement: `
      SELECT account_id, format('%s: sealed as %s records over %s, are %s over %s%s', ${named('month')}, c.records, c.cost_nano, r.records,
        r.cost_nano, CASE WHEN c.records = r.records AND c.cost_nano = r.cost_nano THEN '; another digest' END)
      FROM (SELECT * FROM usage_checkpoints WHERE month IN (${PRESENT})) c
      FULL JOIN (${recordSumsQuery('archived_usage_records')}) r USING (account_id, month)
      WHERE (c.records, c.requests, c.cost_nano, c.output_tokens, c.provider_cost_nano, c.last_seq, c.last_id, c.records_digest)
        IS DISTINCT FROM (r.records, r.requests, r.cost_nano, r.output_tokens, r.provider_cost_nano, r.last_seq, r.last_id, r.records_digest)`,
  },
  {
    kind: 'archived_days_altered',
    statement: `
      SELECT account_id, format('%s: its daily sums are not those that were sealed', ${named('month')})
      FROM usage_checkpoints c LEFT JOIN (${dayDigestsQuery(IN_SEALED_MONTH)}) d USING (account_id, month)
      WHERE c.days_digest IS DISTINCT FROM d.days_digest`,
  },
  {
    kind: 'archive_differs_from_audit_log',
    statement: `
      SELECT NULL::text, format('%s: sealed as %s, in the audit log %s', ${named('month')}, m.digest, coalesce(a.digest, 'nothing'))
      FROM archived_months m LEFT JOIN (
        SELECT DISTINCT ON (subject) subject, details ->> 'digest' AS digest FROM audit_entries WHERE action = 'usage.archive'
        ORDER BY subject, seq DESC) a ON a.subject = ${named('month')}
      WHERE m.archived_at IS NOT NULL AND a.digest IS DISTINCT FROM m.digest`,
  },
]
