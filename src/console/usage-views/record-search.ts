import type { Database } from '@/db/client'
import { createCellSteps } from './cell-steps'
import {
  type ListedRecord,
  positionOf,
  type RecordPosition,
  type RecordRow,
  type TakeStep,
  toListed,
} from './listed-record'
import { livePart } from './live-records'
import { readKeyNames } from './names'
import { isByCell, isNoteworthy, type UsageFilter } from './usage-filter'
import { createWindowSteps } from './window-steps'

export type SearchPage = {
  records: ListedRecord[]
  /** The position at which the next page starts; null at the end of the list. */
  next: RecordPosition | null
  /** Set if time ran out before the page was full: everything since this time (milliseconds since 1970) was searched. */
  searchedToMs: number | null
  /** Set if the filter includes records before this time, which are archived and not listed; else null. */
  archivedBeforeMs: number | null
}

export type SearchOptions = {
  after?: RecordPosition | undefined
  limit: number
  budgetMs?: number
  /** Records per scan step, for filters without an index that finds only matches. */
  windowSize?: number
}

const DEFAULT_BUDGET_MS = 1_500
/** A scan of this many records takes some dozen milliseconds, even if none matches. */
const WINDOW_SIZE = 10_000

/** Finds a page of records in limited time: by daily sums, by the index of exceptions, or by scanning. Throws if Postgres is too slow. */
export async function searchRecords(
  database: Database,
  asked: UsageFilter,
  options: SearchOptions,
): Promise<SearchPage> {
  const { filter, archivedBeforeMs } = await livePart(database, asked)
  const { after, limit, budgetMs = DEFAULT_BUDGET_MS, windowSize = WINDOW_SIZE } = options
  if (filter.fromMs >= filter.toMs) return { records: [], next: null, searchedToMs: null, archivedBeforeMs }
  const takeStep = chooseSteps(database, filter, windowSize)
  const deadline = performance.now() + budgetMs
  const rows: RecordRow[] = []
  let position = after
  let rest: RecordPosition | null = null
  do {
    // One more record than the page shows: it reveals whether there is a next page.
    const step = await takeStep(position, limit + 1 - rows.length)
    rows.push(...step.rows)
    rest = step.rest
    position = step.rest ?? undefined
  } while (rows.length <= limit && rest && performance.now() < deadline)
  return { ...(await finishPage(database, filter, rows, limit, rest)), archivedBeforeMs }
}

async function finishPage(
  database: Database,
  { accountId }: UsageFilter,
  rows: readonly RecordRow[],
  limit: number,
  rest: RecordPosition | null,
): Promise<Omit<SearchPage, 'archivedBeforeMs'>> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const names = await readKeyNames(
    database,
    accountId,
    shown.map((row) => row.keyId),
  )
  const records = shown.map((row) => toListed(row, names))
  if (rows.length > limit && last) return { records, next: positionOf(last), searchedToMs: null }
  return { records, next: rest, searchedToMs: rest && Math.floor(rest.atMicros / 1000) }
}

function chooseSteps(database: Database, filter: UsageFilter, windowSize: number): TakeStep {
  const isOfCells = isByCell(filter)
  const createSteps = isOfCells && !isNoteworthy(filter) ? createCellSteps : createWindowSteps
  return createSteps(database, filter, windowSize)
}
