/** Checks and completes the period of the books (days or months in UTC) for pages, files and the command. */

export const BOOK_STEPS = ['day', 'month'] as const
export type BookStep = (typeof BOOK_STEPS)[number]

/** Days in UTC, yyyy-mm-dd, inclusive. With months as steps, `from` is the first day of a month, and `to` is the last one or today. */
export type BookPeriod = { by: BookStep; from: string; to: string }

type AskedPeriod = { by?: BookStep | undefined; from?: string | undefined; to?: string | undefined }
type PeriodFault = { param: 'from' | 'to'; fault: string }

const MS_PER_DAY = 86_400_000
const MAX_PERIODS = { day: 366, month: 120 }
const MONTH_CHARS = 'yyyy-mm'.length
const YEAR_CHARS = 'yyyy'.length

/** The requested period, until today at most. Default: this month until today; with months as steps, this year until today. */
export function bookPeriodOf({ by = 'day', from, to }: AskedPeriod, nowMs: number): BookPeriod | PeriodFault {
  const today = dayOf(nowMs)
  for (const [param, day] of [['from', from] as const, ['to', to] as const])
    if (day !== undefined && !isDay(day)) return { param, fault: 'must be a day such as 2026-03-01' }
  const end = to === undefined || to > today ? today : to
  const begin = from ?? `${end.slice(0, by === 'day' ? MONTH_CHARS : YEAR_CHARS)}-01-01`.slice(0, today.length)
  if (begin > end) return { param: 'from', fault: 'must not be after to, or in the future' }
  const period =
    by === 'day'
      ? { by, from: begin, to: end }
      : { by, from: `${begin.slice(0, MONTH_CHARS)}-01`, to: earlier(lastDayOf(end), today) }
  if (stepsOf(period).length > MAX_PERIODS[by])
    return { param: 'from', fault: `must be at most ${MAX_PERIODS[by]} ${by}s before to` }
  return period
}

/** The names of all steps of `period`, oldest first: `2026-11-03` or `2026-11`. */
export function stepsOf({ by, from, to }: BookPeriod): string[] {
  const steps = new Set<string>()
  for (let atMs = Date.parse(from); atMs <= Date.parse(to); atMs += MS_PER_DAY) steps.add(stepOf(by, dayOf(atMs)))
  return [...steps]
}

/** The first and last day of a month such as `2026-11`; undefined for an invalid month. */
export function daysOfMonth(month: string): { from: string; to: string } | undefined {
  const from = `${month}-01`
  return isDay(from) ? { from, to: lastDayOf(from) } : undefined
}

/** Number of leading characters of a day (yyyy-mm-dd) that name its step. */
export function stepChars(by: BookStep): number {
  return by === 'day' ? 'yyyy-mm-dd'.length : MONTH_CHARS
}

function stepOf(by: BookStep, day: string): string {
  return day.slice(0, stepChars(by))
}

function lastDayOf(day: string): string {
  return dayOf(Date.UTC(Number(day.slice(0, YEAR_CHARS)), Number(day.slice(5, MONTH_CHARS)), 0))
}

function earlier(one: string, other: string): string {
  return one < other ? one : other
}

/** JavaScript reads 31 June as 1 July, so such days are refused. */
function isDay(text: string): boolean {
  return /^20\d{2}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length)
}
