/** The usage export as comma-separated values (RFC 4180) that no spreadsheet takes for a formula. */

/** What a spreadsheet may run when a cell begins with it. */
const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** A number, also as exact decimal text, is written as it is; another text is made harmless. Null is an empty cell. */
export type CsvCell = string | number | boolean | null | { decimal: string }

/** One row with its line end. */
export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell === 'object') return cell.decimal
  if (typeof cell !== 'string') return String(cell)
  const safe = FORMULA_START.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
