import { plainArray, textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { MS_PER_DAY, utcDayOf } from '@/lib/clock'
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
  detailCondition,
  keyAndModelCondition,
  madeByCondition,
  rangeCondition,
  type UsageFilter,
} from './usage-filter'
import { createWindowSteps } from './window-steps'

type Cell = { day: string; key_id: string; model: string; requests: number }

/** Number of daily sums that one query reads, and number of those sums whose records one query reads. */
const CELLS_READ = 2_000
const MAX_PROBES = 64

/** Finds records of one key or model on the days that have daily sums. Days with few records are read together. */
export function createCellSteps(database: Database, filter: UsageFilter, windowSize: number): TakeStep {
  let known: Cell[] = []
  let isLast = false

  async function cellsFrom(from: RecordPosition | undefined): Promise<Cell[]> {
    const latest = utcDayOf(from === undefined ? filter.toMs - 1 : Math.floor(from.atMicros / 1000))
    known = known.filter((cell) => cell.day <= latest)
    if (known.length === 0 && !isLast) {
      known = await readCells(database, filter, latest)
      isLast = known.length < CELLS_READ
      // The oldest day that was read may be incomplete: the next query reads it again, unless it is the only day.
      const oldest = known.at(-1)?.day
      if (!isLast && known[0]?.day !== oldest) known = known.filter((cell) => cell.day !== oldest)
    }
    return known
  }

  return async (from, wanted) => {
    const cells = takeDays(await cellsFrom(from), wanted)
    const [newest, oldest] = [cells[0], cells.at(-1)]
    if (!newest || !oldest) return { rows: [], rest: null }
    const span = spanOf(filter, oldest.day, newest.day)
    const step =
      cells.length > MAX_PROBES
        ? await createWindowSteps(database, span, windowSize)(from, wanted)
        : await probe(database, span, cells, from, wanted)
    return step.rest ? step : { ...step, rest: beforeDay(oldest.day) }
  }
}

async function readCells({ sql }: Database, filter: UsageFilter, latest: string): Promise<Cell[]> {
  const { accountId, fromMs } = filter
  return await sql<Cell[]>`SELECT day::text AS day, key_id, model, sum(requests)::bigint AS requests FROM usage_daily
    WHERE account_id = ${accountId} AND day BETWEEN ${utcDayOf(fromMs)}::text::date AND ${latest}::text::date
      AND ${keyAndModelCondition(sql, filter)}
    GROUP BY usage_daily.day, key_id, model ORDER BY usage_daily.day DESC LIMIT ${CELLS_READ}`
}

/** Takes whole days, newest first, until they have enough matches or are too many for one query. Takes at least one day. */
function takeDays(cells: readonly Cell[], wanted: number): Cell[] {
  const taken: Cell[] = []
  let requests = 0
  for (const cell of cells) {
    const isNewDay = cell.day !== taken.at(-1)?.day
    if (isNewDay && taken.length > 0 && (requests >= wanted || !fits(cells, cell.day, taken.length))) break
    taken.push(cell)
    requests += cell.requests
  }
  return taken
}

function fits(cells: readonly Cell[], day: string, taken: number): boolean {
  return taken + cells.filter((cell) => cell.day === day).length <= MAX_PROBES
}

async function probe(
  { sql }: Database,
  span: UsageFilter,
  cells: readonly Cell[],
  from: RecordPosition | undefined,
  wanted: number,
): Promise<SearchStep> {
  const texts = (value: (cell: Cell) => string) => textArray(cells.map(value))
  const days = plainArray(cells.map((cell) => Date.parse(cell.day) / 1000))
  const rows = await sql<RecordRow[]>`
    SELECT found.* FROM unnest(${texts((cell) => cell.key_id)}::text::text[], ${texts((cell) => cell.model)}::text::text[],
      ${days}::text::bigint[]) AS cell (cell_key, cell_model, day_seconds),
    LATERAL (
      SELECT ${recordColumns(sql)} FROM usage_records
      WHERE ${rangeCondition(sql, span)} AND key_id = cell_key AND model = cell_model
        AND settled_at >= to_timestamp(day_seconds) AND settled_at < to_timestamp(day_seconds) + interval '1 day'
        ${afterCondition(sql, from)} ${madeByCondition(sql, span)} AND ${detailCondition(sql, span)}
      ORDER BY settled_at DESC, seq DESC, event_id DESC LIMIT ${wanted}) found
    ORDER BY "atMicros" DESC, seq DESC, "recordId" DESC LIMIT ${wanted}`
  const last = rows.at(-1)
  return { rows: [...rows], rest: rows.length === wanted && last ? positionOf(last) : null }
}

/** The filter, limited to whole days. */
function spanOf(filter: UsageFilter, oldest: string, newest: string): UsageFilter {
  return {
    ...filter,
    fromMs: Math.max(filter.fromMs, Date.parse(oldest)),
    toMs: Math.min(filter.toMs, Date.parse(newest) + MS_PER_DAY),
  }
}

/** The position after all records of the day, and before all earlier ones. */
function beforeDay(day: string): RecordPosition {
  return { atMicros: Date.parse(day) * 1000 - 1, seq: Number.MAX_SAFE_INTEGER, recordId: '' }
}
