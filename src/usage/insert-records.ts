/** The statement that writes usage records into the history, thousands at a time, whatever of them is there already. */
import type { TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import { chargeBasis } from '@/ledger/charge-basis'
import type { UsageRecord } from '@/ledger/usage-record'
import { providerCostOf } from './totals'

/** How far apart in time two settlements of one record can be: a ledger restored from a backup may settle it once more. */
const REPEAT_WINDOW = '7 days'

/**
 * Inserts one row per record, in the order given, and returns those that were not there yet. No two records may share an id.
 * The server names the new ones only where some were not: nearly always all are.
 *
 * The primary key alone would let the same record in again with another time; the look-up of the days around the batch
 * refuses that. It is one index scan for all ids, which the partitions of other months take no part in.
 *
 * A late charge is the difference to what its hold was charged at its expiry. Where the hold was settled instead, by a store
 * that has forgotten it since, there is nothing to correct.
 */
export async function insertRecords(
  transaction: TransactionSql,
  records: readonly UsageRecord[],
): Promise<readonly UsageRecord[]> {
  const numbers = (value: (record: UsageRecord) => number | boolean | null) => plainArray(records.map(value))
  const texts = (value: (record: UsageRecord) => string) => textArray(records.map(value))
  const ids = texts((record) => record.recordId)
  const lateHoldIds = textArray(records.filter(({ kind }) => kind === 'late').map(({ holdId }) => holdId))
  const moments = records.map((record) => record.atMs)
  const [inserted] = await transaction<{ count: number; ids: string[] | null }[]>`
    WITH inserted AS (INSERT INTO usage_records (event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, settled_at,
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
      rule, flags, stream, status, attempts, started_at, first_token_ms, duration_ms, route_reason, tool_charges,
      provider_cost_nano, charge_basis, count_gaps,
      provider_input_tokens, provider_output_tokens, local_input_tokens, local_output_tokens)
    SELECT event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, to_timestamp(at_ms / 1000),
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
      rule, string_to_array(flags, ','), stream, status, attempts, to_timestamp(started_at_ms / 1000),
      first_token_ms, duration_ms, nullif(route_reason, ''), nullif(tool_charges, '')::jsonb,
      provider_cost_nano, charge_basis, string_to_array(nullif(count_gaps, ''), ','),
      provider_input, provider_output, local_input, local_output
    FROM unnest(
      ${ids}::text::text[], ${texts((record) => record.holdId)}::text::text[],
      ${texts((record) => record.accountId)}::text::text[], ${texts((record) => record.keyId)}::text::text[],
      ${texts((record) => record.kind)}::text::text[], ${numbers((record) => record.cost)}::text::bigint[],
      ${numbers((record) => record.held)}::text::bigint[], ${numbers((record) => record.seq)}::text::bigint[],
      ${plainArray(moments)}::text::float8[], ${texts((record) => record.facts.requestId)}::text::text[],
      ${texts((record) => record.facts.model)}::text::text[],
      ${texts((record) => record.facts.requestedModel)}::text::text[],
      ${texts((record) => record.facts.provider)}::text::text[],
      ${texts((record) => record.facts.upstreamModel)}::text::text[],
      ${texts((record) => record.facts.clientFormat)}::text::text[],
      ${texts((record) => record.facts.providerFormat)}::text::text[],
      ${numbers((record) => record.facts.usage.uncached)}::text::bigint[],
      ${numbers((record) => record.facts.usage.cacheRead)}::text::bigint[],
      ${numbers((record) => record.facts.usage.cacheWrite5m)}::text::bigint[],
      ${numbers((record) => record.facts.usage.cacheWrite1h)}::text::bigint[],
      ${numbers((record) => record.facts.usage.output)}::text::bigint[],
      ${numbers((record) => record.facts.usage.reasoning)}::text::bigint[],
      ${texts((record) => record.facts.rule)}::text::text[], ${texts((record) => allFlags(record).join(','))}::text::text[],
      ${numbers((record) => record.facts.stream)}::text::boolean[],
      ${numbers((record) => toInt4(record.facts.status))}::text::integer[],
      ${numbers((record) => toInt4(record.facts.attempts))}::text::integer[],
      ${numbers((record) => toMoment(record.facts.startedAtMs))}::text::float8[],
      ${numbers((record) => (record.facts.firstTokenMs === null ? null : toInt4(record.facts.firstTokenMs)))}::text::integer[],
      ${numbers((record) => toInt4(record.facts.durationMs))}::text::integer[],
      ${texts((record) => record.facts.routeReason ?? '')}::text::text[],
      ${texts((record) => (record.facts.tools ? JSON.stringify(record.facts.tools) : ''))}::text::text[],
      ${operatorColumns(transaction, records)}
    ) AS e (event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, at_ms,
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
      rule, flags, stream, status, attempts, started_at_ms, first_token_ms, duration_ms, route_reason, tool_charges,
      provider_cost_nano, charge_basis, count_gaps, provider_input, provider_output, local_input, local_output)
    WHERE event_id NOT IN (
      ${repeatsOf(transaction, records)})
      AND (kind <> 'late' OR hold_id NOT IN (
        SELECT r.event_id FROM usage_records r WHERE r.event_id = ANY(${lateHoldIds}::text::text[]) AND r.kind = 'settle'))
    ON CONFLICT DO NOTHING
    RETURNING event_id)
    SELECT count(*)::integer AS count, CASE WHEN count(*) < ${records.length}::integer THEN json_agg(event_id) END AS ids
    FROM inserted`
  if (inserted?.count === records.length) return records
  const fresh = new Set(inserted?.ids)
  return records.filter((record) => fresh.has(record.recordId))
}

/** Those of `records` that are there already, whatever their time: one index scan over the days around the batch. */
export function repeatsOf(transaction: TransactionSql, records: readonly UsageRecord[]) {
  const moments = records.map((record) => record.atMs)
  return transaction`SELECT r.event_id FROM usage_records r
    WHERE r.event_id = ANY(${textArray(records.map((record) => record.recordId))}::text::text[])
      AND r.settled_at > to_timestamp(${Math.min(...moments)}::text::float8 / 1000) - ${REPEAT_WINDOW}::text::interval
      AND r.settled_at < to_timestamp(${Math.max(...moments)}::text::float8 / 1000) + ${REPEAT_WINDOW}::text::interval`
}

/** What operators alone see of records: the provider's side of them. */
function operatorColumns(transaction: TransactionSql, records: readonly UsageRecord[]) {
  const counts = (name: 'providerInput' | 'providerOutput' | 'localInput' | 'localOutput') =>
    plainArray(records.map(({ facts }) => facts.counts?.[name] ?? null))
  const gaps = textArray(records.map(({ facts }) => facts.counts?.gaps.join(',') ?? ''))
  return transaction`${plainArray(records.map(providerCostOf))}::text::bigint[],
      ${textArray(records.map(chargeBasis))}::text::text[], ${gaps}::text::text[],
      ${counts('providerInput')}::text::bigint[], ${counts('providerOutput')}::text::bigint[],
      ${counts('localInput')}::text::bigint[], ${counts('localOutput')}::text::bigint[]`
}

/** The event's own flags and the record's, each once. */
export function allFlags(record: UsageRecord): string[] {
  return [...new Set([...record.facts.flags, ...record.flags])]
}

const MAX_INT4 = 2_147_483_647

/** Facts that carry no money are bent into their column, so that an absurd clock can't keep a record out of the books. */
export function toInt4(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.min(MAX_INT4, Math.round(value))) : 0
}

/** The last millisecond of the year 9999. */
export const LATEST_MS = 253_402_300_799_999

/** A moment that a date column can hold, in milliseconds since 1970. */
export function toMoment(atMs: number): number {
  return Math.max(0, Math.min(LATEST_MS, Math.round(atMs)))
}
