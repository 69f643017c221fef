/** Dates of bank statements: ISO, with points, and with slashes where the column shows which part is the day. */

/** How dates with slashes are to be read; `detect` reads them where the column leaves no doubt. */
export type DateOrder = 'detect' | 'day-first' | 'month-first'

export type DatesResult =
  /** As yyyy-mm-dd. `undefined`: that text is no date. */
  | { kind: 'read'; dates: (string | undefined)[] }
  /** `03/04/2026` might be March or April, and no other line tells. */
  | { kind: 'ambiguous' }

const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/
const POINTS = /^(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})$/
const SLASHES = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/
const YEAR_FIRST_SLASHES = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/

/** Reads a whole column, because one date with slashes may be ambiguous. Times of day after an ISO date are ignored. */
export function readDates(texts: readonly string[], order: DateOrder): DatesResult {
  const trimmed = texts.map((text) => text.trim())
  const found = order === 'detect' ? detectOrder(trimmed) : order
  if (found === 'unknown') return { kind: 'ambiguous' }
  return { kind: 'read', dates: trimmed.map((text) => readDate(text, found)) }
}

function detectOrder(texts: readonly string[]): 'day-first' | 'month-first' | 'unknown' {
  let isDoubtful = false
  let isDayFirst = false
  let isMonthFirst = false
  for (const text of texts) {
    const match = SLASHES.exec(text)
    if (!match) continue
    const [first, second] = [Number(match[1]), Number(match[2])]
    if (first > 12) isDayFirst = true
    else if (second > 12) isMonthFirst = true
    else if (first !== second) isDoubtful = true
  }
  if (isDayFirst !== isMonthFirst) return isDayFirst ? 'day-first' : 'month-first'
  return isDoubtful || isDayFirst ? 'unknown' : 'day-first'
}

function readDate(text: string, order: 'day-first' | 'month-first'): string | undefined {
  const yearFirst = ISO.exec(text) ?? COMPACT.exec(text) ?? YEAR_FIRST_SLASHES.exec(text)
  if (yearFirst) return calendarDate(yearFirst[1], yearFirst[2], yearFirst[3])
  const points = POINTS.exec(text)
  if (points) return calendarDate(points[3], points[2], points[1])
  const slashes = SLASHES.exec(text)
  if (!slashes) return undefined
  const [, first, second, year] = slashes
  return order === 'day-first' ? calendarDate(year, second, first) : calendarDate(year, first, second)
}

/** Refuses days that no calendar has, such as 30 February. */
function calendarDate(year = '', month = '', day = ''): string | undefined {
  const fullYear = year.length === 2 ? `20${year}` : year
  const text = `${fullYear}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return undefined
  return fullYear >= '2000' && fullYear < '2100' ? text : undefined
}
