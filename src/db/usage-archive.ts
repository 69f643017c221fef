/** Archived usage: the last archived month, and SQL that computes a month's checkpoints from its records. */
import type { Sql, TransactionSql } from 'postgres'
import { usageColumns } from './schema'

/** Days after a month's end until it may be archived: a record may be settled 7 days late, and rated for 30 days. */
export const ARCHIVE_MIN_AGE_DAYS = 31

/** The time before which records are archived, milliseconds since 1970; null if none are. */
export async function archivedBeforeMs(sql: Sql | TransactionSql): Promise<number | null> {
  const [row] = await sql<{ before_ms: number | null }[]>`
    SELECT (extract(epoch FROM (max(month) + interval '1 month') AT TIME ZONE 'UTC') * 1000)::bigint AS before_ms
    FROM archived_months WHERE archived_at IS NOT NULL`
  return row?.before_ms ?? null
}

/** A column as text that doesn't depend on session settings. */
function digestible({ name, type }: (typeof usageColumns)[number]): string {
  if (type.startsWith('timestamp')) return `extract(epoch FROM ${name})`
  return type === 'nano_usd' || type === 'token_count' ? `${name}::bigint` : name
}

/** SQL for the text of a record from which its hash is computed: all columns. */
export const RECORD_TEXT = `ROW(${usageColumns.map(digestible).join(', ')})::text`

/** SQL for the text of a day's sums, which is hashed. Counts of errors and durations are omitted, since they don't affect money. */
export const DAY_TEXT = `ROW(day - '1970-01-01'::date, key_id, model, member_id, requests, uncached_tokens::bigint,
  cache_read_tokens::bigint, cache_write_5m_tokens::bigint, cache_write_1h_tokens::bigint, output_tokens::bigint,
  reasoning_tokens::bigint, cost_nano::bigint, provider_cost_nano, costed_nano)::text`

const CHECKPOINT_TEXT = `ROW(account_id, records, requests, cost_nano::bigint, output_tokens::bigint, provider_cost_nano, last_seq,
  last_id, records_digest, days_digest)::text`

const hashed = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`
const hashOfHashes = (hash: string, order: string) => `sha256(string_agg(${hash}, ''::bytea ORDER BY ${order}))`

/**
 * A query for the totals of the records in `table`, by account and month: `account_id, month, records, requests, cost_nano, output_tokens,
 * provider_cost_nano, last_seq, last_id, records_digest`. Hashes are combined hour by hour first, since a large account's hashes don't fit
 * in one value.
 */
export function recordSumsQuery(table: string): string {
  return `
    SELECT account_id, month, sum(records)::bigint AS records, sum(requests)::bigint AS requests, sum(cost) AS cost_nano,
      sum(output) AS output_tokens, sum(bills) AS provider_cost_nano, max(last_seq) AS last_seq,
      (array_agg(last_id ORDER BY hour DESC))[1] AS last_id,
      encode(${hashOfHashes('hash', 'hour')}, 'hex') AS records_digest
    FROM (
      SELECT account_id, ${MONTH_OF_RECORD} AS month,
        floor(extract(epoch FROM settled_at) / 3600)::bigint AS hour, count(*) AS records,
        count(*) FILTER (WHERE kind <> 'late') AS requests, sum(cost_nano) AS cost,
        coalesce(sum(output_tokens) FILTER (WHERE kind <> 'late'), 0) AS output, sum(provider_cost_nano) AS bills,
        max(seq) AS last_seq,
        (array_agg(event_id ORDER BY settled_at DESC, seq DESC, event_id COLLATE "C" DESC))[1] AS last_id,
        ${hashOfHashes(hashed(RECORD_TEXT), 'event_id COLLATE "C", settled_at')} AS hash
      FROM ${table} GROUP BY 1, 2, 3) hours
    GROUP BY account_id, month`
}

/** A query for `account_id, month, requests, cost_nano, output_tokens, provider_cost_nano` of daily sums where `condition` is true. */
export function daySumsQuery(condition: string): string {
  return `
    SELECT account_id, ${MONTH_OF_DAY} AS month, sum(requests) AS requests, sum(cost_nano) AS cost_nano,
      sum(output_tokens) AS output_tokens, sum(provider_cost_nano) AS provider_cost_nano
    FROM usage_daily WHERE ${condition} GROUP BY 1, 2`
}

/** A query for `account_id, month, days_digest` of the daily sums for which `condition` is true. */
export function dayDigestsQuery(condition: string): string {
  return `
    SELECT account_id, ${MONTH_OF_DAY} AS month,
      encode(${hashOfHashes(hashed(DAY_TEXT), 'day, key_id COLLATE "C", model COLLATE "C", member_id COLLATE "C"')}, 'hex') AS days_digest
    FROM usage_daily WHERE ${condition} GROUP BY 1, 2`
}

const MONTH_OF_RECORD = `date_trunc('month', settled_at AT TIME ZONE 'UTC')::date`
const MONTH_OF_DAY = `date_trunc('month', day::timestamp)::date`

/** An aggregate over the checkpoints of a month: the month's digest. Without checkpoints it is the hash of an empty text. */
export const CHECKPOINTS_DIGEST = `encode(sha256(coalesce(string_agg(${hashed(CHECKPOINT_TEXT)}, ''::bytea
  ORDER BY account_id COLLATE "C"), ''::bytea)), 'hex')`
