/** The usage records that a list or a sum looks at: none that are archived, and never more than so many. */
import type { Sql } from 'postgres'
import type { Database } from '@/db/client'
import { archivedBeforeMs as readArchivedBeforeMs } from '@/db/usage-archive'
import {
  detailCondition,
  type Fragment,
  isByCell,
  isNoteworthy,
  keyAndModelCondition,
  noteworthyCondition,
  rangeCondition,
  type UsageFilter,
} from './usage-filter'

/** How many records one sum may read: about half a second of work. */
export const MAX_SUMMED = 400_000

/** Rows with a column `is_match`: the newest {@link MAX_SUMMED}; if there are that many, older ones are missing. */
export function boundedScan(sql: Sql, filter: UsageFilter): Fragment {
  const isOfCells = isByCell(filter)
  const onlyNoteworthy = isNoteworthy(filter) ? sql`AND ${noteworthyCondition(sql)}` : sql``
  // The index by key and model has no order over several of them: asking for one would lead the planner away from it.
  const newestFirst = isOfCells && !isNoteworthy(filter) ? sql`` : sql`ORDER BY settled_at DESC`
  return sql`(SELECT *, (${detailCondition(sql, filter)}) AS is_match FROM (
    SELECT * FROM usage_records WHERE ${rangeCondition(sql, filter)} ${onlyNoteworthy} AND ${keyAndModelCondition(sql, filter)}
    ${newestFirst} LIMIT ${MAX_SUMMED}) looked_at)`
}

type LivePart = {
  /** What of the filter's time has records: nothing where `fromMs` is `toMs`. */
  filter: UsageFilter
  /** The moment before which records are archived, where the filter reaches back beyond it; else null. */
  archivedBeforeMs: number | null
}

/** The part of `filter` that records are there for. */
export async function livePart({ sql }: Pick<Database, 'sql'>, filter: UsageFilter): Promise<LivePart> {
  const beforeMs = await readArchivedBeforeMs(sql)
  if (beforeMs === null || beforeMs <= filter.fromMs) return { filter, archivedBeforeMs: null }
  return { filter: { ...filter, fromMs: Math.min(beforeMs, filter.toMs) }, archivedBeforeMs: beforeMs }
}
