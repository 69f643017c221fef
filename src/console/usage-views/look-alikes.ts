import { plainArray, textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import type { ListedRecord } from './listed-record'

/** Maximum minutes between duplicates. Request bodies are not stored, not even as digests, so duplicates can't be found exactly. */
const MINUTES_APART = 10

/** Request ids of possible duplicates (same key, model, input size, cost; minutes apart), by record id; those without one are omitted. */
export async function findLookAlikes(
  { sql }: Database,
  accountId: string,
  records: readonly ListedRecord[],
): Promise<ReadonlyMap<string, string>> {
  const paid = records.filter(({ cost }) => cost > 0)
  if (paid.length === 0) return new Map()
  const rows = await sql<{ recordId: string; requestId: string }[]>`
    SELECT own.record_id AS "recordId", other.request_id AS "requestId"
    FROM unnest(${textArray(paid.map(({ recordId }) => recordId))}::text::text[],
        ${plainArray(paid.map(({ position }) => position.atMicros))}::text::bigint[]) own (record_id, at_micros),
      LATERAL (SELECT '1970-01-01 00:00:00+00'::timestamptz + own.at_micros * interval '1 microsecond' AS at) moment,
      LATERAL (SELECT * FROM usage_records r WHERE r.account_id = ${accountId} AND r.event_id = own.record_id
        AND r.settled_at BETWEEN moment.at - interval '1 second' AND moment.at + interval '1 second' LIMIT 1) mine,
      LATERAL (SELECT r.request_id FROM usage_records r WHERE r.account_id = ${accountId}
        AND r.settled_at BETWEEN moment.at - ${MINUTES_APART} * interval '1 minute' AND moment.at + ${MINUTES_APART} * interval '1 minute'
        AND r.request_id <> mine.request_id AND r.key_id = mine.key_id AND r.model = mine.model AND r.cost_nano = mine.cost_nano
        AND r.uncached_tokens + r.cache_read_tokens + r.cache_write_5m_tokens + r.cache_write_1h_tokens
          = mine.uncached_tokens + mine.cache_read_tokens + mine.cache_write_5m_tokens + mine.cache_write_1h_tokens
        ORDER BY abs(extract(epoch FROM r.settled_at - moment.at)) LIMIT 1) other`
  return new Map(rows.map(({ recordId, requestId }) => [recordId, requestId]))
}
