/** Limits the records that a list or sum reads: no archived ones, and at most a fixed number. */
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

/** The maximum of records that one sum may read: about half a second of work. */
export const MAX_SUMMED = 400_000

/** At most {@link MAX_SUMMED} rows, with a column `is_match`: the newest ones, or any ones if the filter names a key, model or person. */
export function boundedScan(sql: Sql, filter: UsageFilter): Fragment {
  const isOfCells = isByCell(filter)
  const onlyNoteworthy = isNoteworthy(filter) ? sql`AND ${noteworthyCondition(sql)}` : sql``
  // The index by key and model isn't sorted by time across keys and models. With an ORDER BY, the planner would not use it.
  const newestFirst = isOfCells && !isNoteworthy(filter) ? sql`` : sql`ORDER BY settled_at DESC`
  return sql`(SELECT *, (${detailCondition(sql, filter)}) AS is_match FROM (
    SELECT * FROM usage_records WHERE ${rangeCondition(sql, filter)} ${onlyNoteworthy} AND ${keyAndModelCondition(sql, filter)}
    ${newestFirst} LIMIT ${MAX_SUMMED}) looked_at)`
}

type LivePart = {
  filter: UsageFilter
  archivedBeforeMs: number | null
}

/** Limits `filter` to the time whose records are not archived. */
export async function livePart({ sql }: Pick<Database, 'sql'>, filter: UsageFilter): Promise<LivePart> {
  const beforeMs = await readArchivedBeforeMs(sql)
  if (beforeMs === null || beforeMs <= filter.fromMs) return { filter, archivedBeforeMs: null }
  return { filter: { ...filter, fromMs: Math.min(beforeMs, filter.toMs) }, archivedBeforeMs: beforeMs }
}
