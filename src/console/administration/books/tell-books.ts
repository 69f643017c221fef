/** The books as texts: for the page and the command, and as a file for accountants. Amounts are exact decimals. */
import { csvRow } from '@/lib/csv'
import { formatTotalUsd as text } from '@/lib/money'
import { MOVEMENTS, type Movement } from './book-rows'
import type { BookSums, Books, CashSums, MarginSums } from './read-books'

const CASH_LINES = ['received', 'tax', 'refunded', 'chargedBack', 'reinstated'] as const

/** The books as texts, without the causes and models of each period, which are only in the file. */
export function tellBooks({ by, from, to, now, total, periods }: Books) {
  return {
    ...{ by, from, to },
    now: { liability: text(now.liability), belowZero: text(now.belowZero) },
    total: tellSums(total),
    models: total.models.map(({ model, ...margin }) => ({ model, ...tellMargin(margin) })),
    periods: periods.map(({ period, ...sums }) => ({ period, ...tellSums(sums) })),
  }
}

function tellSums({ opening, movements, closing, cash, ...margin }: BookSums) {
  return {
    opening: text(opening),
    ...(Object.fromEntries(MOVEMENTS.map((name) => [name, text(movements[name])])) as Record<Movement, string>),
    closing: text(closing),
    ...tellMargin(margin),
    cash: cash.map(tellCash),
  }
}

function tellMargin({ requests, charged, cost, margin, uncosted }: MarginSums) {
  return {
    requests,
    charged: text(charged),
    cost: cost === null ? null : text(cost),
    margin: margin === null ? null : text(margin),
    uncosted: text(uncosted),
  }
}

function tellCash({ way, currency, isTest, ...lines }: CashSums) {
  const texts = CASH_LINES.map((line) => [line, text(lines[line])])
  return { way, currency, isTest, ...(Object.fromEntries(texts) as Record<(typeof CASH_LINES)[number], string>) }
}

/** The name of the file of `books`. */
export function booksFileName({ by, from, to }: Books): string {
  return `books-by-${by}-${from}-to-${to}.csv`
}

/** The rows of the CSV file: first the headings, then each period. An empty amount means: not known. */
export function* booksFile({ periods }: Books): Generator<string> {
  yield csvRow(['period_utc', 'section', 'line', 'detail', 'currency', 'amount'])
  for (const { period, ...sums } of periods) {
    for (const { section, line, detail = '', currency = 'USD', amount } of linesOf(sums))
      yield csvRow([
        ...[period, section, snakeCase(line), detail, currency],
        amount === null ? null : { decimal: text(amount) },
      ])
  }
}

type FileLine = { section: string; line: string; detail?: string; currency?: string; amount: bigint | null }

function* linesOf({ opening, movements, closing, details, cash, models }: BookSums): Generator<FileLine> {
  const section = 'liability'
  yield { section, line: 'opening', amount: opening }
  for (const line of MOVEMENTS) {
    const known = details.filter((row) => row.line === line)
    for (const { detail, amount } of known) yield { section, line, detail, amount: BigInt(amount) }
    if (known.length === 0) yield { section, line, amount: movements[line] }
  }
  yield { section, line: 'closing', amount: closing }
  for (const { way, currency, isTest, ...lines } of cash) {
    const place = { section: isTest ? 'test' : 'cash', detail: way, currency }
    for (const line of CASH_LINES) if (lines[line] !== 0n) yield { ...place, line, amount: lines[line] }
  }
  for (const { model, charged, cost, margin, uncosted } of models) {
    const place = { section: 'margin', detail: model }
    yield { ...place, line: 'charged', amount: charged }
    yield { ...place, line: 'providerCost', amount: cost }
    yield { ...place, line: 'margin', amount: margin }
    yield { ...place, line: 'chargedAtUnknownCost', amount: uncosted }
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
