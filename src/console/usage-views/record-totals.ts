/** Totals of a filter's records: from daily sums if these suffice, else from the records, within limits. */
import type { Database } from '@/db/client'
import { MS_PER_DAY, startOfUtcDay, utcDayOf } from '@/lib/clock'
import { type Nano, nano } from '@/lib/money'
import { boundedScan, livePart, MAX_SUMMED } from './live-records'
import { errorCondition, isRolledUp, keyAndModelCondition, type UsageFilter } from './usage-filter'

export type RecordTotals = {
  /** Late records don't count as requests; they only change the cost. */
  requests: number
  errors: number
  inputTokens: number
  outputTokens: number
  cost: Nano
  /** False if there were too many records: the sums cover only the newest {@link MAX_SUMMED}. */
  isComplete: boolean
  /** Set if the sums lack records before this time, which are archived, with only daily sums kept; else null. */
  archivedBeforeMs: number | null
}

export async function sumRecords(database: Database, filter: UsageFilter): Promise<RecordTotals> {
  if (isRolledUp(filter)) return await sumByDay(database, filter)
  if (filter.status !== 'ok') return await sumFromRecords(database, filter)
  // Successful requests are computed: all requests minus the failed ones, which are few.
  const { filter: live, archivedBeforeMs } = await livePart(database, filter)
  const { status, ...all } = live
  if (!isRolledUp(all)) return await sumFromRecords(database, filter)
  const [whole, rest] = await Promise.all([
    sumByDay(database, all),
    sumFromRecords(database, { ...all, status: 'not_ok' }),
  ])
  return { ...subtract(whole, rest), errors: 0, archivedBeforeMs }
}

/** Sums whole days from the daily sums, and the incomplete days at both ends from the records. */
async function sumByDay(database: Database, filter: UsageFilter): Promise<RecordTotals> {
  const firstDayMs = startOfUtcDay(filter.fromMs + MS_PER_DAY - 1)
  const endMs = startOfUtcDay(filter.toMs)
  if (firstDayMs >= endMs) return await sumFromRecords(database, filter)
  const parts = [readDays(database, filter, firstDayMs, endMs)]
  if (filter.fromMs < firstDayMs) parts.push(sumFromRecords(database, { ...filter, toMs: firstDayMs }))
  // If the last day is today, its daily sum is as current as the records.
  if (endMs < filter.toMs) parts.push(sumLastDay(database, filter, endMs))
  return (await Promise.all(parts)).reduce(add)
}

function sumLastDay(database: Database, filter: UsageFilter, startMs: number): Promise<RecordTotals> {
  const isToday = startMs === startOfUtcDay(Date.now()) && filter.toMs >= Date.now()
  if (isToday) return readDays(database, filter, startMs, startMs + MS_PER_DAY)
  return sumFromRecords(database, { ...filter, fromMs: startMs })
}

type SumRow = { requests: number; errors: number; input: number; output: number; cost: number; seen: number }

async function readDays({ sql }: Database, filter: UsageFilter, fromMs: number, toMs: number): Promise<RecordTotals> {
  const [row] = await sql<SumRow[]>`
    SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(errors), 0)::bigint AS errors,
      coalesce(sum(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens), 0)::bigint AS input,
      coalesce(sum(output_tokens), 0)::bigint AS output, coalesce(sum(cost_nano), 0)::bigint AS cost, 0::bigint AS seen
    FROM usage_daily WHERE account_id = ${filter.accountId}
      AND day >= ${utcDayOf(fromMs)}::text::date AND day < ${utcDayOf(toMs)}::text::date
      AND ${keyAndModelCondition(sql, filter)}`
  return toTotals(row)
}

async function sumFromRecords(database: Database, asked: UsageFilter): Promise<RecordTotals> {
  const { filter, archivedBeforeMs } = await livePart(database, asked)
  const { sql } = database
  const [row] = await sql<SumRow[]>`
    SELECT count(*) FILTER (WHERE is_match AND kind <> 'late') AS requests,
      count(*) FILTER (WHERE is_match AND kind <> 'late' AND ${errorCondition(sql)}) AS errors,
      coalesce(sum(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)
        FILTER (WHERE is_match AND kind <> 'late'), 0)::bigint AS input,
      coalesce(sum(output_tokens) FILTER (WHERE is_match AND kind <> 'late'), 0)::bigint AS output,
      coalesce(sum(cost_nano) FILTER (WHERE is_match), 0)::bigint AS cost, count(*) AS seen
    FROM ${boundedScan(sql, filter)} r`
  return { ...toTotals(row), archivedBeforeMs }
}

function toTotals(row: SumRow | undefined): RecordTotals {
  return {
    requests: row?.requests ?? 0,
    errors: row?.errors ?? 0,
    inputTokens: row?.input ?? 0,
    outputTokens: row?.output ?? 0,
    cost: nano(row?.cost ?? 0),
    isComplete: (row?.seen ?? 0) < MAX_SUMMED,
    archivedBeforeMs: null,
  }
}

function add(one: RecordTotals, other: RecordTotals): RecordTotals {
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: nano(one.cost + other.cost),
    isComplete: one.isComplete && other.isComplete,
    archivedBeforeMs: one.archivedBeforeMs ?? other.archivedBeforeMs,
  }
}

function subtract(whole: RecordTotals, part: RecordTotals): RecordTotals {
  return {
    requests: whole.requests - part.requests,
    errors: whole.errors - part.errors,
    inputTokens: whole.inputTokens - part.inputTokens,
    outputTokens: whole.outputTokens - part.outputTokens,
    cost: nano(whole.cost - part.cost),
    isComplete: whole.isComplete && part.isComplete,
    archivedBeforeMs: null,
  }
}
