/** The usage page's chart: cost, requests or tokens over time, by model, key or status. */
import type { Database } from '@/db/client'
import { OTHER_TAGS, sumsByTags } from '@/db/usage-sums/tag-sums'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { MS_PER_DAY, MS_PER_HOUR, utcDayOf } from '@/lib/clock'
import { boundedScan, livePart, MAX_SUMMED } from './live-records'
import { readKeyNames, readMemberNames } from './names'
import { errorCondition, type Fragment, isRolledUp, keyAndModelCondition, type UsageFilter } from './usage-filter'

export const SERIES_GROUPS = ['model', 'key', 'status', 'member', 'tag', 'app'] as const
export type SeriesGroup = (typeof SERIES_GROUPS)[number]
type SeriesStep = 'hour' | 'day'

export type SeriesPoint = {
  atMs: number
  /** A model, key or member id, all tags of a request, an app, `ok`, `error` or `left` (the client disconnected). Empty if unknown. */
  group: string
  requests: number
  tokens: number
  cost: number
}

export type UsageSeries = {
  step: SeriesStep
  /** Only steps with requests, oldest first. */
  points: SeriesPoint[]
  labels: Map<string, string>
  /** False if there were too many records: the oldest are missing. */
  isComplete: boolean
  /** Set if the chart lacks records before this time, which are archived, with only daily sums by model and key kept; else null. */
  archivedBeforeMs: number | null
}

/** Charts up to this length show hours, longer ones days. A little over three days, since a chart until now ends slightly in the future. */
const MAX_HOURLY_MS = 3 * MS_PER_DAY + MS_PER_HOUR

/** The chart of `filter`. Days are always whole UTC days. */
export async function readSeries(database: Database, filter: UsageFilter, group: SeriesGroup): Promise<UsageSeries> {
  const isShort = filter.toMs - filter.fromMs <= MAX_HOURLY_MS
  // For archived records there are only daily sums.
  const isByDay = isRolledUp(filter) && (group === 'model' || group === 'key')
  const isHourly = isShort && (!isByDay || (await livePart(database, filter)).archivedBeforeMs === null)
  const step = isHourly ? 'hour' : 'day'
  const whole = step === 'day' ? wholeDays(filter) : filter
  const { rows, ...limits } = await readRows(database, whole, group, step)
  const points = rows.map((row) => ({
    atMs: row.bucket * (step === 'day' ? MS_PER_DAY : MS_PER_HOUR),
    group: row.label,
    requests: row.requests,
    tokens: row.tokens,
    cost: row.cost,
  }))
  const ids = [...new Set(points.map((point) => point.group))]
  const names = await namesOf(database, filter.accountId, group, ids)
  const unsaid = UNSAID[group]
  return { step, points, labels: new Map(ids.map((id) => [id, names.get(id) ?? (id || unsaid || id)])), ...limits }
}

const UNSAID: Partial<Record<SeriesGroup, string>> = { member: 'No member', tag: 'No tags', app: 'No app' }

async function namesOf(database: Database, accountId: string, group: SeriesGroup, ids: readonly string[]) {
  if (group === 'key') return await readKeyNames(database, accountId, ids)
  return group === 'member' ? await readMemberNames(database, ids) : new Map<string, string>()
}

/** `bucket` counts hours or days since 1970. */
type PointRow = { bucket: number; label: string; requests: number; tokens: number; cost: number }
type Rows = { rows: PointRow[]; isComplete: boolean; archivedBeforeMs: number | null }

async function readRows(database: Database, filter: UsageFilter, group: SeriesGroup, step: SeriesStep): Promise<Rows> {
  if (step === 'hour' || !isRolledUp(filter)) return await groupRecords(database, filter, group, step)
  if (group === 'model' || group === 'key') {
    return { rows: await groupDays(database, filter, group), isComplete: true, archivedBeforeMs: null }
  }
  if (group === 'tag' && filter.keyId === undefined && filter.madeBy === undefined)
    return await groupTags(database, filter)
  if (group !== 'status') return await groupRecords(database, filter, group, step)
  const { filter: live, archivedBeforeMs } = await livePart(database, filter)
  const [all, bad] = await Promise.all([
    groupDays(database, live, undefined),
    groupRecords(database, { ...live, status: 'not_ok' }, 'status', 'day'),
  ])
  return { rows: splitByStatus(all, bad.rows), isComplete: bad.isComplete, archivedBeforeMs }
}

async function groupDays(
  { sql }: Database,
  filter: UsageFilter,
  group: 'model' | 'key' | undefined,
): Promise<PointRow[]> {
  const { accountId, fromMs, toMs } = filter
  const label = group === 'model' ? sql`model` : group === 'key' ? sql`key_id` : sql`'ok'::text`
  const rows = await sql<PointRow[]>`
    SELECT (day - '1970-01-01'::date)::bigint AS bucket, ${label} AS label, sum(requests)::bigint AS requests,
      sum(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens + output_tokens)::bigint AS tokens,
      sum(cost_nano)::bigint AS cost
    FROM usage_daily WHERE account_id = ${accountId}
      AND day >= ${utcDayOf(fromMs)}::text::date AND day < ${utcDayOf(toMs)}::text::date
      AND ${keyAndModelCondition(sql, filter)}
    GROUP BY 1, 2 ORDER BY 1, 2`
  return [...rows]
}

async function groupTags(database: Database, asked: UsageFilter): Promise<Rows> {
  const { filter, archivedBeforeMs } = await livePart(database, asked)
  const { sql } = database
  const { accountId, fromMs, toMs, model } = filter
  const days = { accountId, from: utcDayOf(fromMs), to: utcDayOf(toMs - 1) }
  const rows = await sql<PointRow[]>`
    SELECT (day - '1970-01-01'::date)::bigint AS bucket,
      CASE WHEN tags = '' THEN ${OTHER_TAGS}::text ELSE coalesce(replace(tags, ',', ', '), '') END AS label,
      sum(requests)::bigint AS requests, sum(input + output)::bigint AS tokens, sum(cost)::bigint AS cost
    FROM ${sumsByTags(sql, days)} AS days ${model === undefined ? sql`` : sql`WHERE model = ${model}`}
    GROUP BY 1, 2 ORDER BY 1, 2`
  return { rows: [...rows], isComplete: true, archivedBeforeMs }
}

async function groupRecords(
  database: Database,
  asked: UsageFilter,
  group: SeriesGroup,
  step: SeriesStep,
): Promise<Rows> {
  const { filter, archivedBeforeMs } = await livePart(database, asked)
  const { sql } = database
  const seconds = (step === 'day' ? MS_PER_DAY : MS_PER_HOUR) / 1000
  const { raw, shown } = labelOf(group, sql)
  // With the columns' statistics, the planner would sort all records on disk. `OFFSET 0` hides the statistics, so it expects few groups.
  const rows = await sql.begin('READ ONLY', async (transaction) => {
    await transaction`SET LOCAL hash_mem_multiplier = 8`
    return await transaction<(PointRow & { matches: number; seen: number })[]>`
    SELECT (extract(epoch FROM start) / ${seconds}::text::bigint)::bigint AS bucket, ${shown} AS label,
      count(*) FILTER (WHERE is_match AND kind <> 'late') AS requests,
      coalesce(sum(tokens) FILTER (WHERE is_match AND kind <> 'late'), 0)::bigint AS tokens,
      coalesce(sum(cost_nano) FILTER (WHERE is_match), 0)::bigint AS cost, count(*) FILTER (WHERE is_match) AS matches,
      sum(count(*)) OVER ()::bigint AS seen
    FROM (
      SELECT date_bin(${seconds}::text::bigint * interval '1 second', settled_at, '1970-01-01 00:00:00+00') AS start, ${raw} AS label,
        uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens + output_tokens AS tokens,
        cost_nano, kind, is_match
      FROM ${boundedScan(sql, filter)} looked_at OFFSET 0) r
    GROUP BY start, r.label ORDER BY 1, 2`
  })
  const matching = rows.filter((row) => row.matches > 0)
  const isComplete = (rows[0]?.seen ?? 0) < MAX_SUMMED
  return { rows: matching.map(({ seen, matches, ...row }) => row), isComplete, archivedBeforeMs }
}

/** SQL expressions: `raw` to group by, `shown` to display. An array's text is built only once per group. */
function labelOf(group: SeriesGroup, sql: Database['sql']): { raw: Fragment; shown: Fragment } {
  if (group === 'tag') return { raw: sql`nullif(tags, '{}')`, shown: sql`coalesce(array_to_string(r.label, ', '), '')` }
  const texts = {
    model: sql`model`,
    key: sql`key_id`,
    member: sql`coalesce(member_id, '')`,
    app: sql`coalesce(app, '')`,
    status: statusLabel(sql),
  }
  return { raw: texts[group], shown: sql`r.label` }
}

function statusLabel(sql: Database['sql']): Fragment {
  return sql`CASE WHEN ${errorCondition(sql)} THEN 'error' WHEN status = ${CLIENT_CLOSED_STATUS} THEN 'left' ELSE 'ok' END`
}

/** Splits each day's total: the groups in `bad`, and the successful requests, which remain. */
function splitByStatus(all: readonly PointRow[], bad: readonly PointRow[]): PointRow[] {
  const byDay = Map.groupBy(bad, (row) => row.bucket)
  return all.flatMap((whole) => {
    const parts = byDay.get(whole.bucket) ?? []
    const rest = parts.reduce(subtract, whole)
    return rest.requests > 0 || rest.cost !== 0 || parts.length === 0 ? [rest, ...parts] : parts
  })
}

function subtract(whole: PointRow, part: PointRow): PointRow {
  return {
    ...whole,
    requests: whole.requests - part.requests,
    tokens: whole.tokens - part.tokens,
    cost: whole.cost - part.cost,
  }
}

function wholeDays(filter: UsageFilter): UsageFilter {
  return {
    ...filter,
    fromMs: Math.floor(filter.fromMs / MS_PER_DAY) * MS_PER_DAY,
    toMs: Math.ceil(filter.toMs / MS_PER_DAY) * MS_PER_DAY,
  }
}
