/**
 * Parses amounts and dates of bank statements. Amounts: decimal comma or point, with or without thousands separators; the sign before,
 * after or as brackets. Dates: ISO, with points, or with slashes if the column shows which part is the day.
 */
import { type DateOrder, MAX_CENTS } from './statement'

type AmountsResult =
  /** In cents of the statement's currency; negative for outgoing money. `undefined`: not an amount. */
  | { kind: 'read'; cents: (number | undefined)[] }
  /** `1,50` and `1.50` occur in one column, so `1,500` would be ambiguous. */
  | { kind: 'mixed_decimal_signs' }

/** Reads a whole column: `1.500` has a thousands separator if another text shows a decimal comma, and is undefined if none does. */
export function readAmounts(texts: readonly string[]): AmountsResult {
  const shapes = texts.map(shapeOf)
  const signs = new Set(shapes.flatMap((shape) => (shape?.decimalSign ? [shape.decimalSign] : [])))
  if (signs.size > 1) return { kind: 'mixed_decimal_signs' }
  const [decimalSign] = signs
  return { kind: 'read', cents: shapes.map((shape) => shape && centsOf(shape, decimalSign)) }
}

type Sign = '.' | ','
type Shape = {
  isNegative: boolean
  digits: string
  /** The decimal sign, if the text itself shows it. */
  decimalSign: Sign | undefined
}

const CURRENCY_WORDS = /[$€£¥]|\b[A-Za-z]{3}\b/g
const BLANKS = /[\s\u00a0\u202f'’]/g
const NUMBER = /^(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)(?:[.,]\d{1,2})?$/
const DECIMALS = /([.,])\d{1,2}$/
const THOUSANDS = /([.,])\d{3}(?!\d)/g

function shapeOf(text: string): Shape | undefined {
  const bare = text.replace(CURRENCY_WORDS, '').replace(BLANKS, '').replaceAll('−', '-')
  const match = /^(\()?([+-]?)([\d.,]+)([+-]?)(\))?$/.exec(bare)
  if (!match) return undefined
  const [, opening, before = '', digits = '', after = '', closing] = match
  const isBracketed = opening !== undefined
  if (isBracketed !== (closing !== undefined)) return undefined
  if ([before, after, isBracketed ? '-' : ''].filter((sign) => sign !== '').length > 1) return undefined
  if (!NUMBER.test(digits)) return undefined
  return { isNegative: isBracketed || before === '-' || after === '-', digits, decimalSign: shownSign(digits) }
}

/** `1,5`, `1.234,50` and `1.234.567` all show that the comma is the decimal sign; `1.234` shows neither. */
function shownSign(digits: string): Sign | undefined {
  const decimals = DECIMALS.exec(digits)?.[1]
  if (decimals === '.' || decimals === ',') return decimals
  const separators = [...digits.matchAll(THOUSANDS)].map((match) => match[1])
  if (separators.length < 2) return undefined
  return separators[0] === '.' ? ',' : '.'
}

function centsOf({ isNegative, digits }: Shape, decimalSign: Sign | undefined): number | undefined {
  const hasSeparator = /[.,]/.test(digits)
  if (hasSeparator && decimalSign === undefined) return undefined
  const [whole = '', fraction = ''] = decimalSign === undefined ? [digits] : digits.split(decimalSign)
  // An amount of money has at most two digits after the decimal sign.
  if (fraction.length > 2 || (decimalSign && digits.split(decimalSign).length > 2)) return undefined
  const separator = decimalSign === '.' ? ',' : '.'
  const magnitude = Number(whole.replaceAll(separator, '')) * 100 + Number(fraction.padEnd(2, '0'))
  if (!Number.isSafeInteger(magnitude) || magnitude > MAX_CENTS) return undefined
  return isNegative && magnitude > 0 ? -magnitude : magnitude
}

export type DatesResult =
  /** As yyyy-mm-dd. `undefined`: not a date. */
  | { kind: 'read'; dates: (string | undefined)[] }
  /** `03/04/2026` may be in March or April, and no other line of the column decides it. */
  | { kind: 'ambiguous' }

const ISO = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/
const POINTS = /^(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})$/
const SLASHES = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/
const YEAR_FIRST_SLASHES = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/

/** Reads a whole column, because a single date with slashes may be ambiguous. Times after an ISO date are ignored. */
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

/** Rejects impossible days such as 30 February. */
function calendarDate(year = '', month = '', day = ''): string | undefined {
  const fullYear = year.length === 2 ? `20${year}` : year
  const text = `${fullYear}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return undefined
  return fullYear >= '2000' && fullYear < '2100' ? text : undefined
}
