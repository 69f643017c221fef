import type { Database } from '@/db/client'
import {
  afterCondition,
  positionOf,
  type RecordPosition,
  type RecordRow,
  recordColumns,
  type SearchStep,
  type TakeStep,
} from './listed-record'
import {
  isByCell,
  isNoteworthy,
  isRolledUp,
  matchCondition,
  noteworthyCondition,
  rangeCondition,
  type UsageFilter,
} from './usage-filter'

/** Finds records by scanning an account's records backwards in fixed steps. If only exceptions can match, scans only these. */
export function createWindowSteps({ sql }: Database, filter: UsageFilter, windowSize: number): TakeStep {
  const isPlain = isRolledUp(filter) && !isByCell(filter)
  return isPlain
    ? (from, wanted) => readPlainly({ sql }, filter, from, wanted)
    : (from, wanted) => searchWindow({ sql }, filter, windowSize, from, wanted)
}

type Reader = Pick<Database, 'sql'>

async function readPlainly(
  { sql }: Reader,
  filter: UsageFilter,
  from: RecordPosition | undefined,
  wanted: number,
): Promise<SearchStep> {
  const rows = await sql<RecordRow[]>`SELECT ${recordColumns(sql)} FROM usage_records
    WHERE ${rangeCondition(sql, filter)} ${afterCondition(sql, from)}
    ORDER BY settled_at DESC, seq DESC, event_id DESC LIMIT ${wanted}`
  const last = rows.at(-1)
  return { rows: [...rows], rest: rows.length === wanted && last ? positionOf(last) : null }
}

/** Finds matches among the next `windowSize` records. The next search continues after the last of these records. */
async function searchWindow(
  { sql }: Reader,
  filter: UsageFilter,
  windowSize: number,
  from: RecordPosition | undefined,
  wanted: number,
): Promise<SearchStep> {
  const onlyNoteworthy = isNoteworthy(filter) ? sql`AND ${noteworthyCondition(sql)}` : sql``
  const found = await sql<(RecordRow & { is_match: boolean })[]>`
    WITH scanned AS MATERIALIZED (
      SELECT * FROM usage_records WHERE ${rangeCondition(sql, filter)} ${afterCondition(sql, from)} ${onlyNoteworthy}
      ORDER BY settled_at DESC, seq DESC, event_id DESC LIMIT ${windowSize}),
    matches AS (
      SELECT * FROM scanned WHERE ${matchCondition(sql, filter)}
      ORDER BY settled_at DESC, seq DESC, event_id DESC LIMIT ${wanted}),
    edge AS (
      SELECT * FROM scanned ORDER BY settled_at DESC, seq DESC, event_id DESC OFFSET ${windowSize - 1} LIMIT 1)
    SELECT * FROM (
      SELECT true AS is_match, ${recordColumns(sql)} FROM matches
      UNION ALL SELECT false AS is_match, ${recordColumns(sql)} FROM edge) found
    ORDER BY is_match DESC, "atMicros" DESC, seq DESC, "recordId" DESC`
  const rows = found.filter((row) => row.is_match)
  const last = rows.length === wanted ? rows.at(-1) : found.find((row) => !row.is_match)
  return { rows, rest: last ? positionOf(last) : null }
}
