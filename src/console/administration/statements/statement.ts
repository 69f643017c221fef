/** A bank statement's bookings in the form in which they are judged and stored, for every file format. */
import type { StatementFormat } from '@/db/administration-schema'
import { sha256Hex } from '@/lib/ids'

export type StatementLine = {
  /** Number of the line among the statement's bookings, from 1. */
  line: number
  /** The same key for the same booking in every statement of the format. */
  lineKey: string
  /** yyyy-mm-dd. */
  bookedOn: string
  /** Negative for outgoing money. */
  amountCents: number
  /** ISO 4217, upper case. */
  currency: string
  reference: string
  counterparty: string
  /** The bank's reason to exclude the line from crediting; CSV files have none. */
  exclusion?: 'not_booked' | 'reversal' | 'unclear_batch'
}

/** The order of day and month in CSV dates with slashes. `detect`: the column must show the order. */
export type DateOrder = 'detect' | 'day-first' | 'month-first'

export type StatementOptions = {
  dateOrder: DateOrder
  /** For statements without a currency. ISO 4217. */
  currency: string | undefined
}

/** `faults` are sentences for the person who uploaded the statement; no line of a faulty statement is used. */
export type ReadStatementResult =
  | { kind: 'read'; format: StatementFormat; lines: StatementLine[] }
  | { kind: 'faulty'; faults: string[] }

/** The longest accepted text of XML. A CSV text may have a tenth of this length. */
export const MAX_STATEMENT_CHARS = 20_000_000
export const MAX_STATEMENT_LINES = 5_000
export const MAX_FAULTS = 20
/** The largest accepted amount: far above any order, and exact as a JavaScript number. */
export const MAX_CENTS = 1_000_000_000_00
const MAX_FIELD_CHARS = 1_000
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]+/gu

/** Normalises a field to one line without invalid characters. */
export function clean(field: string | undefined): string {
  return (field ?? '')
    .toWellFormed()
    .replace(CONTROL_CHARACTERS, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_FIELD_CHARS)
}

/** Computes the key of a booking from its content. `occurrences` counts equal contents, so that two equal payments get different keys. */
export function keyOfContent(content: readonly unknown[], occurrences: Map<string, number>): string {
  const text = JSON.stringify(content)
  const occurrence = occurrences.get(text) ?? 0
  occurrences.set(text, occurrence + 1)
  return sha256Hex(`${text}#${occurrence}`)
}

/** The result of a statement with a single fault. */
export function faulty(fault: string): ReadStatementResult {
  return { kind: 'faulty', faults: [fault] }
}
