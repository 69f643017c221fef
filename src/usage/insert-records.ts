/** The one statement that makes usage events records, thousands at a time. */
import type { TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import type { UsageEvent } from '@/ledger/usage-event'

/** How far apart in time two settlements of one event can be: a ledger restored from a backup may settle it once more. */
const REPEAT_WINDOW = '7 days'

/**
 * Inserts one row per event, in the order given, and returns the ids of those that were not there yet. No two events may
 * share an id.
 *
 * The primary key alone would let the same event in again with another time; the look-up of the days around the batch
 * refuses that. It is one index scan for all ids, which the partitions of other months take no part in.
 */
export async function insertRecords(
  transaction: TransactionSql,
  events: readonly UsageEvent[],
): Promise<ReadonlySet<string>> {
  const numbers = (value: (event: UsageEvent) => number | boolean | null) => plainArray(events.map(value))
  const texts = (value: (event: UsageEvent) => string) => textArray(events.map(value))
  const ids = texts((event) => event.eventId)
  const moments = events.map((event) => event.atMs)
  const rows = await transaction<{ event_id: string }[]>`
    INSERT INTO usage_records (event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, settled_at,
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
      rule, flags, stream, status, attempts, started_at, first_token_ms, duration_ms, route_reason)
    SELECT event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, to_timestamp(at_ms / 1000),
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
      rule, string_to_array(flags, ','), stream, status, attempts, to_timestamp(started_at_ms / 1000),
      first_token_ms, duration_ms, nullif(route_reason, '')
    FROM unnest(
      ${ids}::text::text[], ${texts((event) => event.holdId)}::text::text[],
      ${texts((event) => event.accountId)}::text::text[], ${texts((event) => event.keyId)}::text::text[],
      ${texts((event) => event.kind)}::text::text[], ${numbers((event) => event.cost)}::text::bigint[],
      ${numbers((event) => event.held)}::text::bigint[], ${numbers((event) => event.seq)}::text::bigint[],
      ${plainArray(moments)}::text::float8[], ${texts((event) => event.record.requestId)}::text::text[],
      ${texts((event) => event.record.model)}::text::text[],
      ${texts((event) => event.record.requestedModel)}::text::text[],
      ${texts((event) => event.record.provider)}::text::text[],
      ${texts((event) => event.record.upstreamModel)}::text::text[],
      ${texts((event) => event.record.clientFormat)}::text::text[],
      ${texts((event) => event.record.providerFormat)}::text::text[],
      ${numbers((event) => event.record.usage.uncached)}::text::bigint[],
      ${numbers((event) => event.record.usage.cacheRead)}::text::bigint[],
      ${numbers((event) => event.record.usage.cacheWrite5m)}::text::bigint[],
      ${numbers((event) => event.record.usage.cacheWrite1h)}::text::bigint[],
      ${numbers((event) => event.record.usage.output)}::text::bigint[],
      ${numbers((event) => event.record.usage.reasoning)}::text::bigint[],
      ${texts((event) => event.record.rule)}::text::text[], ${texts(allFlags)}::text::text[],
      ${numbers((event) => event.record.stream)}::text::boolean[],
      ${numbers((event) => toInt4(event.record.status))}::text::integer[],
      ${numbers((event) => toInt4(event.record.attempts))}::text::integer[],
      ${numbers((event) => toMoment(event.record.startedAtMs))}::text::float8[],
      ${numbers((event) => (event.record.firstTokenMs === null ? null : toInt4(event.record.firstTokenMs)))}::text::integer[],
      ${numbers((event) => toInt4(event.record.durationMs))}::text::integer[],
      ${texts((event) => event.record.routeReason ?? '')}::text::text[]
    ) AS e (event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, at_ms,
      request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
      uncached, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
      rule, flags, stream, status, attempts, started_at_ms, first_token_ms, duration_ms, route_reason)
    WHERE event_id NOT IN (
      SELECT r.event_id FROM usage_records r WHERE r.event_id = ANY(${ids}::text::text[])
        AND r.settled_at > to_timestamp(${Math.min(...moments)}::text::float8 / 1000) - ${REPEAT_WINDOW}::text::interval
        AND r.settled_at < to_timestamp(${Math.max(...moments)}::text::float8 / 1000) + ${REPEAT_WINDOW}::text::interval)
    ON CONFLICT DO NOTHING
    RETURNING event_id`
  return new Set(rows.map((row) => row.event_id))
}

/** The event's own flags and the record's, each once. */
function allFlags(event: UsageEvent): string {
  return [...new Set([...event.record.flags, ...event.flags])].join(',')
}

const MAX_INT4 = 2_147_483_647

/** Facts that carry no money are bent into their column, so that an absurd clock can't keep a charge out of the books. */
function toInt4(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.min(MAX_INT4, Math.round(value))) : 0
}

/** The last millisecond of the year 9999. */
const LATEST_MS = 253_402_300_799_999

function toMoment(atMs: number): number {
  return Math.max(0, Math.min(LATEST_MS, Math.round(atMs)))
}
