/** The usage records that a sum looks at: never more than so many, however much the filter's time holds. */
import type { Sql } from 'postgres'
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

/** Rows with a column `is_match`: the newest {@link MAX_SUMMED}; where there are that many, older ones are missing. */
export function boundedScan(sql: Sql, filter: UsageFilter): Fragment {
  const isOfCells = isByCell(filter)
  const onlyNoteworthy = isNoteworthy(filter) ? sql`AND ${noteworthyCondition(sql)}` : sql``
  // The index by key and model has no order over several of them: asking for one would lead the planner away from it.
  const newestFirst = isOfCells && !isNoteworthy(filter) ? sql`` : sql`ORDER BY settled_at DESC`
  return sql`(SELECT *, (${detailCondition(sql, filter)}) AS is_match FROM (
    SELECT * FROM usage_records WHERE ${rangeCondition(sql, filter)} ${onlyNoteworthy} AND ${keyAndModelCondition(sql, filter)}
    ${newestFirst} LIMIT ${MAX_SUMMED}) looked_at)`
}
