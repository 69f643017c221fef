/** One usage record as it is shown and exported, and the columns it is read from. */
import type { Sql } from 'postgres'
import { inputTokens, type Usage } from '@/chat/usage'
import type { BillingRule, RecordFlag, ToolCharge, UsageRecord } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'
import type { Fragment } from './usage-filter'

/** A place in an account's records, which are ordered by time, number and id, newest first. */
export type RecordPosition = { atMicros: number; seq: number; recordId: string }

export type ListedRecord = {
  recordId: string
  requestId: string
  keyId: string
  /** The key's name; null where the key is not known any more. */
  keyName: string | null
  kind: UsageRecord['kind']
  atMs: number
  position: RecordPosition
  model: string
  requestedModel: string
  provider: string
  status: number
  stream: boolean
  rule: BillingRule
  flags: RecordFlag[]
  attempts: number
  usage: Usage
  inputTokens: number
  cost: Nano
  held: Nano
  firstTokenMs: number | null
  durationMs: number
  routeReason: string | null
  /** What of the cost was for tools that ran at the provider. */
  tools: readonly ToolCharge[]
}

export type RecordRow = {
  event_id: string
  request_id: string
  key_id: string
  kind: UsageRecord['kind']
  seq: number
  at_micros: number
  model: string
  requested_model: string
  provider: string
  status: number
  stream: boolean
  rule: BillingRule
  flags: string
  attempts: number
  cost: number
  held: number
  uncached: number
  cache_read: number
  cache_write_5m: number
  cache_write_1h: number
  output: number
  reasoning: number
  first_token_ms: number | null
  duration_ms: number
  route_reason: string | null
  tool_charges: ToolCharge[] | null
}

/** The columns of a {@link RecordRow}, of `usage_records`. Times are whole microseconds, so that a position is exact. */
export function recordColumns(sql: Sql): Fragment {
  return sql`event_id, request_id, key_id, kind, seq, (extract(epoch FROM settled_at) * 1000000)::bigint AS at_micros,
    model, requested_model, provider, status, stream, rule, array_to_string(flags, ',') AS flags, attempts,
    cost_nano::bigint AS cost, held_nano::bigint AS held, uncached_tokens::bigint AS uncached,
    cache_read_tokens::bigint AS cache_read, cache_write_5m_tokens::bigint AS cache_write_5m,
    cache_write_1h_tokens::bigint AS cache_write_1h, output_tokens::bigint AS output,
    reasoning_tokens::bigint AS reasoning, first_token_ms, duration_ms, route_reason, tool_charges`
}

/** ` AND … `: only what lies behind `position`, or nothing where there is none. The plain bound on the time is what an index can use. */
export function afterCondition(sql: Sql, position: RecordPosition | undefined): Fragment {
  if (!position) return sql``
  const { atMicros, seq, recordId } = position
  const at = sql`('1970-01-01 00:00:00+00'::timestamptz + ${atMicros}::text::bigint * interval '1 microsecond')`
  return sql`AND settled_at <= ${at} AND (settled_at, seq, event_id) < (${at}, ${seq}::text::bigint, ${recordId}::text)`
}

/** The position of a row. */
export function positionOf(row: Pick<RecordRow, 'at_micros' | 'seq' | 'event_id'>): RecordPosition {
  return { atMicros: row.at_micros, seq: row.seq, recordId: row.event_id }
}

/** Makes rows presentable; `keyNames` by key id. */
export function toListed(row: RecordRow, keyNames: ReadonlyMap<string, string>): ListedRecord {
  const usage = {
    uncached: row.uncached,
    cacheRead: row.cache_read,
    cacheWrite5m: row.cache_write_5m,
    cacheWrite1h: row.cache_write_1h,
    output: row.output,
    reasoning: row.reasoning,
  }
  return {
    recordId: row.event_id,
    requestId: row.request_id,
    keyId: row.key_id,
    keyName: keyNames.get(row.key_id) ?? null,
    kind: row.kind,
    atMs: Math.floor(row.at_micros / 1000),
    position: positionOf(row),
    model: row.model,
    requestedModel: row.requested_model,
    provider: row.provider,
    status: row.status,
    stream: row.stream,
    rule: row.rule,
    flags: row.flags === '' ? [] : (row.flags.split(',') as RecordFlag[]),
    attempts: row.attempts,
    usage,
    inputTokens: inputTokens(usage),
    cost: nano(row.cost),
    held: nano(row.held),
    firstTokenMs: row.first_token_ms,
    durationMs: row.duration_ms,
    routeReason: row.route_reason,
    tools: row.tool_charges ?? [],
  }
}
