/** The form in which usage records are shown and exported, and the columns that are read for it. */
import type { Sql } from 'postgres'
import type { UnitCount } from '@/chat/units'
import { inputTokens, type Usage } from '@/chat/usage'
import { countUpTo, formatCursor, readCursor, textLike } from '@/db/paging'
import { usageColumns, type usageRecords } from '@/db/schema'
import type { SeenName } from '@/db/usage-columns'
import { LATEST_MS, type ToolCharge } from '@/ledger/usage-record'
import { formatUsd, type Nano, nano } from '@/lib/money'
import type { Fragment } from './usage-filter'

/** The position of a record in its account's list, which is sorted by time, number and id, newest first. */
export type RecordPosition = { atMicros: number; seq: number; recordId: string }

const isMoment = countUpTo(LATEST_MS * 1000)
const isSequence = countUpTo(Number.MAX_SAFE_INTEGER)
const isRecordId = textLike(/^[\x21-\x7e]{0,300}$/)

/** A position as an opaque cursor. */
export function toCursor({ atMicros, seq, recordId }: RecordPosition): string {
  return formatCursor([atMicros, seq, recordId])
}

/** Parses a cursor of {@link toCursor}. Throws `invalid_request` for an invalid one. */
export function fromCursor(cursor: string | undefined): RecordPosition | undefined {
  const place = readCursor(cursor, [isMoment, isSequence, isRecordId])
  return place && { atMicros: place[0], seq: place[1], recordId: place[2] }
}

type Stored = (typeof usageRecords)['$inferSelect']
/** The fields of a record that an account may see. Times are milliseconds since 1970, with a fraction for the database's precision. */
type SeenRecord = { [Name in SeenName]: Stored[Name] extends Date ? number : Stored[Name] }

export type RecordRow = Omit<SeenRecord, 'flags' | 'tags' | 'dataRules'> & {
  flags: string
  tags: string | null
  dataRules: string | null
  seq: number
  atMicros: number
  toolCharges: ToolCharge[] | null
  units: UnitCount[] | null
}

/** The rows of one step, and the position after them. `rest` is null at the end. */
export type SearchStep = { rows: RecordRow[]; rest: RecordPosition | null }

/** Reads at most `wanted` (≥ 1) records after the position `from`. Undefined: from the newest record on. */
export type TakeStep = (from: RecordPosition | undefined, wanted: number) => Promise<SearchStep>

export type ListedRecord = SeenRecord & {
  keyName: string | null
  position: RecordPosition
  usage: Usage
  inputTokens: number
  tools: readonly ToolCharge[]
}

/** How a column's value is displayed: `amount` is nano-USD, `moment` and `duration` are milliseconds. */
export type SeenKind = 'text' | 'count' | 'boolean' | 'amount' | 'moment' | 'duration' | 'words'

export const SEEN_COLUMNS = usageColumns.flatMap(({ property, name, type, seen, isNullable }) =>
  seen ? [{ property: property as SeenName, name, seen, kind: kindOf(property, type), isNullable }] : [],
)

function kindOf(property: string, type: string): SeenKind {
  if (type === 'nano_usd') return 'amount'
  if (type === 'boolean') return 'boolean'
  if (type.startsWith('timestamp')) return 'moment'
  if (type === 'text') return 'text'
  if (type === 'text[]') return 'words'
  return property.endsWith('Ms') ? 'duration' : 'count'
}

const READ = SEEN_COLUMNS.map(({ property, name, kind }) => `${expressionOf(name, kind)} AS "${property}"`).join(', ')

function expressionOf(name: string, kind: SeenKind): string {
  if (kind === 'moment') return `floor(extract(epoch FROM ${name}) * 1000)::bigint`
  if (kind === 'words') return `array_to_string(${name}, ',')`
  return kind === 'amount' || kind === 'count' ? `${name}::bigint` : name
}

/** The columns of a {@link RecordRow} in `usage_records`. The position's time is in whole microseconds, so it is exact. */
export function recordColumns(sql: Sql): Fragment {
  return sql`${sql.unsafe(READ)}, seq, (extract(epoch FROM settled_at) * 1000000)::bigint AS "atMicros", tool_charges AS "toolCharges", units`
}

/** ` AND … `: only rows after `position`; empty if it is undefined. A separate condition on the time allows Postgres to use an index. */
export function afterCondition(sql: Sql, position: RecordPosition | undefined): Fragment {
  if (!position) return sql``
  const { atMicros, seq, recordId } = position
  const at = sql`('1970-01-01 00:00:00+00'::timestamptz + ${atMicros}::text::bigint * interval '1 microsecond')`
  return sql`AND settled_at <= ${at} AND (settled_at, seq, event_id) < (${at}, ${seq}::text::bigint, ${recordId}::text)`
}

/** The position of a row. */
export function positionOf({ atMicros, seq, recordId }: RecordPosition): RecordPosition {
  return { atMicros, seq, recordId }
}

/** Converts rows for display; `keyNames` by key id. */
export function toListed(
  { seq, atMicros, toolCharges, units, ...row }: RecordRow,
  keyNames: ReadonlyMap<string, string>,
): ListedRecord {
  const usage = {
    uncached: row.uncachedTokens,
    cacheRead: row.cacheReadTokens,
    cacheWrite5m: row.cacheWrite5mTokens,
    cacheWrite1h: row.cacheWrite1hTokens,
    output: row.outputTokens,
    reasoning: row.reasoningTokens,
    ...(units && { units }),
  }
  return {
    ...row,
    flags: row.flags === '' ? [] : (row.flags.split(',') as ListedRecord['flags']),
    tags: row.tags?.split(',') ?? null,
    dataRules: row.dataRules?.split(',') ?? null,
    keyName: keyNames.get(row.keyId) ?? null,
    position: { atMicros, seq, recordId: row.recordId },
    usage,
    inputTokens: inputTokens(usage),
    tools: toolCharges ?? [],
  }
}

type Told<Value> = Value extends Date | Nano ? string : Value
/** A record for display: money as exact decimal USD, times as ISO 8601 in UTC. */
export type ToldRecord = { [Name in SeenName]: Told<Stored[Name]> }

/** The fields of a record that an account may see, formatted. */
export function tellRecord(record: SeenRecord): ToldRecord {
  return Object.fromEntries(
    SEEN_COLUMNS.map(({ property, kind }) => [property, tell(kind, record[property])]),
  ) as ToldRecord
}

function tell(kind: SeenKind, value: SeenRecord[SeenName]) {
  if (kind === 'amount') return formatUsd(nano(Number(value)))
  return kind === 'moment' ? new Date(Number(value)).toISOString() : value
}
