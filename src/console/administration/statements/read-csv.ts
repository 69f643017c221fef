/** Parses the CSV text of a bank statement into lines with exact amounts, or reports its faults. */
import { parse } from 'csv-parse/sync'
import { readAmounts, readDates } from './cells'
import { findColumns, type StatementColumns } from './columns'
import {
  clean,
  faulty,
  keyOfContent,
  MAX_FAULTS,
  MAX_STATEMENT_LINES,
  type ReadStatementResult,
  type StatementLine,
  type StatementOptions,
} from './statement'

/** The longest accepted CSV text. */
export const MAX_CSV_CHARS = 2_000_000
/** Banks put account and period above the header. */
const MAX_LINES_ABOVE_HEADER = 30
const DELIMITERS = [';', ',', '\t'] as const

/** Parses `text` of at most {@link MAX_CSV_CHARS} characters and {@link MAX_STATEMENT_LINES} bookings. */
export function readCsv(text: string, options: StatementOptions): ReadStatementResult {
  if (text.length > MAX_CSV_CHARS) return faulty(`The statement is longer than ${MAX_CSV_CHARS} characters.`)
  const table = findTable(text)
  if (!table) {
    return faulty(
      'No row of headers with a date, an amount and a reference was found. Export the statement as CSV or CAMT.053.',
    )
  }
  const { columns, rows } = table
  if (rows.length === 0) return faulty('The statement has no bookings.')
  if (rows.length > MAX_STATEMENT_LINES) return faulty(`The statement has more than ${MAX_STATEMENT_LINES} bookings.`)
  return readRows(rows, columns, options)
}

type Table = { columns: StatementColumns; rows: string[][] }

function findTable(text: string): Table | undefined {
  for (const delimiter of DELIMITERS) {
    const records = parseCsv(text, delimiter)
    for (const [index, record] of records?.slice(0, MAX_LINES_ABOVE_HEADER).entries() ?? []) {
      const columns = findColumns(record)
      const rows = records?.slice(index + 1).filter((row) => row.some((field) => field !== ''))
      if (columns && rows) return { columns, rows }
    }
  }
  return undefined
}

function parseCsv(text: string, delimiter: string): string[][] | undefined {
  try {
    return parse(text, {
      bom: true,
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
      // One line more than accepted, plus those above the header: enough to detect too many.
      to: MAX_STATEMENT_LINES + MAX_LINES_ABOVE_HEADER + 1,
    })
  } catch {
    return undefined
  }
}

function readRows(rows: string[][], columns: StatementColumns, options: StatementOptions): ReadStatementResult {
  const dates = readDates(pick(rows, columns.date), options.dateOrder)
  if (dates.kind === 'ambiguous') {
    return faulty('The dates may be read with the day or with the month first. Say which, and upload it again.')
  }
  const amounts = readSignedAmounts(rows, columns)
  if (amounts === undefined) return faulty('Some amounts have a decimal comma and some a decimal point.')
  const faults: string[] = []
  const lines: StatementLine[] = []
  const occurrences = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    const line = index + 1
    const bookedOn = dates.dates[index]
    const amountCents = amounts[index]
    const currency = currencyOf(row, columns, options)
    if (bookedOn === undefined) faults.push(`Booking ${line}: ${quote(row[columns.date])} is no date.`)
    if (amountCents === undefined) faults.push(`Booking ${line}: the amount can't be read for certain.`)
    if (currency === undefined) faults.push(`Booking ${line}: no currency. Say which one the statement is in.`)
    if (faults.length >= MAX_FAULTS) break
    if (bookedOn === undefined || amountCents === undefined || currency === undefined) continue
    const reference = columns.references
      .map((column) => clean(row[column]))
      .filter(Boolean)
      .join(' ')
    const facts = { bookedOn, amountCents, currency, reference, counterparty: clean(row[columns.counterparty ?? -1]) }
    const content = [bookedOn, amountCents, currency, reference, facts.counterparty]
    lines.push({ line, lineKey: keyOfContent(content, occurrences), ...facts })
  }
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'read', format: 'csv', lines }
}

/** Amounts from one signed column, a column with a direction, or two columns. Undefined if decimal signs are mixed. */
function readSignedAmounts(rows: string[][], columns: StatementColumns): (number | undefined)[] | undefined {
  if (columns.amount !== undefined) {
    const read = readAmounts(pick(rows, columns.amount))
    if (read.kind !== 'read') return undefined
    const words = columns.debitOrCredit === undefined ? undefined : pick(rows, columns.debitOrCredit)
    return read.cents.map((cents, index) => directed(cents, words?.[index]))
  }
  const incoming = pick(rows, columns.credit)
  const outgoing = pick(rows, columns.debit)
  const read = readAmounts([...incoming, ...outgoing])
  if (read.kind !== 'read') return undefined
  return rows.map((_, index) => {
    const [came, left] = [read.cents[index], read.cents[rows.length + index]]
    const isReadable = (came !== undefined || incoming[index] === '') && (left !== undefined || outgoing[index] === '')
    if (!isReadable || (came === undefined && left === undefined) || (came && left)) return undefined
    return came || -Math.abs(left ?? 0) || 0
  })
}

const DEBIT_WORDS = new Set(['s', 'soll', 'd', 'dr', 'debit', 'dbit'])
const CREDIT_WORDS = new Set(['h', 'haben', 'c', 'cr', 'credit', 'crdt'])

function directed(cents: number | undefined, word: string | undefined): number | undefined {
  if (cents === undefined || word === undefined) return cents
  const direction = word.toLowerCase()
  if (DEBIT_WORDS.has(direction)) return cents > 0 ? -cents : cents
  // A negative amount in a credit column is a reversal.
  return CREDIT_WORDS.has(direction) ? cents : undefined
}

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['€', 'EUR'],
  ['$', 'USD'],
  ['£', 'GBP'],
])

function currencyOf(row: string[], columns: StatementColumns, options: StatementOptions): string | undefined {
  const text = columns.currency === undefined ? '' : (row[columns.currency] ?? '')
  if (text !== '') return isoCurrency(SYMBOLS.get(text) ?? text)
  const amount = row[columns.amount ?? columns.credit ?? -1] ?? ''
  const symbol = [...SYMBOLS].find(([character]) => amount.includes(character))?.[1]
  return isoCurrency(symbol ?? /\b[A-Z]{3}\b/.exec(amount)?.[0] ?? options.currency ?? '')
}

function isoCurrency(text: string): string | undefined {
  const upper = text.toUpperCase()
  return /^[A-Z]{3}$/.test(upper) ? upper : undefined
}

function pick(rows: readonly string[][], column: number | undefined): string[] {
  return rows.map((row) => (column === undefined ? '' : (row[column] ?? '')))
}

function quote(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 40))
}
