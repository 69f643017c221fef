/** Sums of an account's usage by any labels, sorted. The totals equal those of an account statement. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import { invalidRequest } from '@/chat/error'
import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { archivedBeforeMs } from '@/db/usage-archive'
import { ofPerson } from '@/db/usage-sums/own-requests'
import { OTHER_TAGS, sumsByTags } from '@/db/usage-sums/tag-sums'
import { utcDayOf } from '@/lib/clock'

/** The groupings; `tag:NAME` is one tag's value, `tag` all tags of a request together. */
export const DIMENSIONS = ['day', 'member', 'key', 'model', 'tag', 'app', 'provider'] as const
export type Dimension = (typeof DIMENSIONS)[number] | `tag:${string}`

export type ReportQuery = {
  /** Days, yyyy-mm-dd, UTC, both included. */
  from: string
  to: string
  /** Without duplicates. */
  by: readonly Dimension[]
}

type ReportSearch = ReportQuery & { accountId: string; madeBy?: string }

/** `cost` is exact nano-USD. */
export type UsageSums = { requests: number; errors: number; inputTokens: number; outputTokens: number; cost: number }

/** `places`: the group's values in the order of `by`; null if missing or no longer known. */
type ReportRow = UsageSums & { places: (string | null)[] }

export type UsageReport = {
  total: UsageSums
  rows: ReportRow[]
  names: Record<string, string>
  /** Set if days before this time are archived, for which only day, key and model are known. */
  archivedBeforeMs: number | null
}

/** Maximum single records per report: less than a second of work. */
const MAX_REPORTED = 400_000
const MAX_GROUPS = 10_000

/** Reads all rows in one snapshot. Throws `invalid_request` beyond 400,000 single records or 10,000 groups. */
export function readUsageReport({ sql }: Pick<Database, 'sql'>, search: ReportSearch): Promise<UsageReport> {
  return sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (transaction) => read(transaction, search))
}

async function read(sql: TransactionSql, search: ReportSearch): Promise<UsageReport> {
  const total = await readTotal(sql, search)
  const isByDay = search.by.every((one) => one === 'day' || one === 'key' || one === 'model')
  const beforeMs = isByDay ? null : await archivedBeforeMs(sql)
  const liveFrom = isByDay ? undefined : utcDayOf(Math.max(beforeMs ?? 0, Date.parse(search.from)))
  const isByTags = liveFrom !== undefined && (await isOfTagSums(sql, search, liveFrom))
  if (liveFrom !== undefined && !isByTags) await refuseTooMany(sql, search, liveFrom)
  const rowsFrom = isByTags ? tagRows : recordRows
  const rows = await sql<(UsageSums & { places: string })[]>`
    SELECT json_build_array(${list(
      sql,
      search.by.map((_, index) => place(sql, index)),
    )})::text AS places, ${SUMS(sql)}
    FROM (${dayRows(sql, search, liveFrom)} ${liveFrom === undefined ? sql`` : sql`UNION ALL ${rowsFrom(sql, search, liveFrom)}`}) r
    GROUP BY ${list(
      sql,
      search.by.map((_, index) => place(sql, index)),
    )}
    ORDER BY ${list(
      sql,
      search.by.map((_, index) => place(sql, index)),
    )} LIMIT ${MAX_GROUPS + 1}`
  if (rows.length > MAX_GROUPS) {
    throw invalidRequest(`from: more than ${MAX_GROUPS} groups. Choose a shorter time or fewer dimensions.`, 'from')
  }
  const placed = rows.map((row) => ({ ...row, places: JSON.parse(row.places) as (string | null)[] }))
  const isArchived = beforeMs !== null && beforeMs > Date.parse(search.from)
  return {
    total,
    rows: placed,
    names: await readNames(sql, search, placed),
    archivedBeforeMs: isArchived ? beforeMs : null,
  }
}

type Fragment = PendingQuery<Row[]>
type Reader = Sql | TransactionSql

async function readTotal(sql: TransactionSql, search: ReportSearch): Promise<UsageSums> {
  const [total] = await sql<UsageSums[]>`SELECT ${SUMS(sql)} FROM (${dayRows(sql, { ...search, by: [] }, undefined)}) r`
  return total ?? { requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
}

/** Refuses a report with too many records, by the counts in the daily sums, before it reads any record. */
async function refuseTooMany(sql: TransactionSql, search: ReportSearch, from: string): Promise<void> {
  const { requests } = await readTotal(sql, { ...search, from })
  if (requests <= MAX_REPORTED) return
  throw invalidRequest(
    `from: ${requests} requests are more than the ${MAX_REPORTED} that one report sorts by these. By day and key, or by day, tag and model, more can be. Choose a shorter time.`,
    'from',
  )
}

/** Whether the sums by tags are enough. If a day has combinations that share a row, single records are used, unless there are too many. */
async function isOfTagSums(sql: TransactionSql, search: ReportSearch, from: string): Promise<boolean> {
  const { accountId, by, madeBy: person, to } = search
  const isKnown = by.every((one) => one === 'day' || one === 'model' || one.startsWith('tag'))
  if (!isKnown || person !== undefined) return false
  const rest = await sql`SELECT FROM usage_daily_tags
    WHERE account_id = ${accountId} AND day BETWEEN ${from}::text::date AND ${to}::text::date AND tags = '' LIMIT 1`
  return rest.length === 0 || (await readTotal(sql, { ...search, from })).requests > MAX_REPORTED
}

const SUMS = (
  sql: Reader,
) => sql`coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(errors), 0)::bigint AS errors,
  coalesce(sum(input), 0)::bigint AS "inputTokens", coalesce(sum(output), 0)::bigint AS "outputTokens",
  coalesce(sum(cost), 0)::bigint AS cost`

/** The daily sums; only of the days before `before`, if the later days come from single records. */
function dayRows(sql: Reader, search: ReportSearch, before: string | undefined): Fragment {
  const known: Partial<Record<Dimension, Fragment>> = { day: sql`day::text`, key: sql`key_id`, model: sql`model` }
  const places = search.by.map((one, index) => sql`${known[one] ?? sql`NULL::text`} AS ${place(sql, index)},`)
  return sql`
    SELECT ${joined(sql, places)} requests, errors, output_tokens::bigint AS output, cost_nano::bigint AS cost,
      (uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint AS input
    FROM usage_daily WHERE account_id = ${search.accountId} AND day >= ${search.from}::text::date
      AND day <= ${search.to}::text::date ${before === undefined ? sql`` : sql`AND day < ${before}::text::date`}
      ${madeBy(sql, search)}`
}

/** Single records from the day `from` on. A correction changes the cost, and counts as no request. */
function recordRows(sql: Reader, search: ReportSearch, from: string): Fragment {
  const places = search.by.map((one, index) => sql`${placeOf(sql, one)} AS ${place(sql, index)},`)
  const counted = (value: Fragment) => sql`CASE WHEN kind = 'late' THEN 0 ELSE ${value} END`
  return sql`
    SELECT ${joined(sql, places)} ${counted(sql`1`)} AS requests,
      ${counted(sql`CASE WHEN status >= 400 AND status <> 499 THEN 1 ELSE 0 END`)} AS errors,
      ${counted(sql`output_tokens::bigint`)} AS output, cost_nano::bigint AS cost,
      ${counted(sql`(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint`)} AS input
    FROM usage_records WHERE account_id = ${search.accountId}
      AND settled_at >= (${from}::text::timestamp AT TIME ZONE 'UTC')
      AND settled_at < ((${search.to}::text::date + 1)::timestamp AT TIME ZONE 'UTC') ${madeBy(sql, search)}`
}

/** The daily sums by tags, from the day `from` on. */
function tagRows(sql: Reader, { accountId, by, to }: ReportSearch, from: string): Fragment {
  const sumPlace = (dimension: Dimension) => {
    if (dimension === 'day') return sql`day::text`
    if (dimension === 'model') return sql`model`
    const said = dimension === 'tag' ? sql`tags` : valueOfTag(sql, dimension, sql`string_to_array(tags, ',')`)
    return sql`CASE WHEN tags = '' THEN ${OTHER_TAGS}::text ELSE ${said} END`
  }
  const places = by.map((one, index) => sql`${sumPlace(one)} AS ${place(sql, index)},`)
  return sql`SELECT ${joined(sql, places)} requests, errors, output, cost, input
    FROM ${sumsByTags(sql, { accountId, from, to })} AS days`
}

function valueOfTag(sql: Reader, dimension: Dimension, tags: Fragment): Fragment {
  const start = `${dimension.slice('tag:'.length)}=`
  return sql`(SELECT substr(tag, ${start.length + 1}::int) FROM unnest(${tags}) AS tag WHERE starts_with(tag, ${start}))`
}

function placeOf(sql: Reader, dimension: Dimension): Fragment {
  const columns: Partial<Record<Dimension, Fragment>> = {
    day: sql`(settled_at AT TIME ZONE 'UTC')::date::text`,
    member: sql`member_id`,
    key: sql`key_id`,
    model: sql`model`,
    tag: sql`array_to_string(tags, ',')`,
    app: sql`app`,
    provider: sql`provider`,
  }
  return columns[dimension] ?? valueOfTag(sql, dimension, sql`tags`)
}

function madeBy(sql: Reader, { accountId, madeBy: person }: ReportSearch): Fragment {
  return person === undefined ? sql`` : ofPerson(sql, accountId, person)
}

const place = (sql: Reader, index: number): Fragment => sql.unsafe(`place_${index}`) as unknown as Fragment
const joined = (sql: Reader, parts: Fragment[]) => parts.reduce((all, part) => sql`${all} ${part}`, sql``)
const list = (sql: Reader, parts: Fragment[]) => parts.reduce((all, part) => sql`${all}, ${part}`)

async function readNames(sql: TransactionSql, { accountId, by }: ReportSearch, rows: readonly ReportRow[]) {
  const ids = (dimension: Dimension) => {
    const index = by.indexOf(dimension)
    return [...new Set(rows.flatMap(({ places }) => places[index] ?? []))]
  }
  const [keys, members] = [ids('key'), ids('member')]
  if (keys.length + members.length === 0) return {}
  const named = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM api_keys WHERE account_id = ${accountId} AND id = ANY(${textArray(keys)}::text::text[])
    UNION ALL SELECT id, name FROM users WHERE id = ANY(${textArray(members)}::text::text[])`
  return Object.fromEntries(named.map(({ id, name }) => [id, name]))
}
