/** Cuts off what of a filter's time is archived: single records of it are not shown any more, only the sums of its days. */
import type { Database } from '@/db/client'
import { archivedBeforeMs as readArchivedBeforeMs } from '@/db/usage-archive'
import type { UsageFilter } from './usage-filter'

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
