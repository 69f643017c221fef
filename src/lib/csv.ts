/** Characters with which a spreadsheet formula can begin. */
const FORMULA_START = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** Numbers, also as exact `decimal` text, are written unchanged. Texts that could be formulas are made harmless. Null is an empty cell. */
export type CsvCell = string | number | boolean | null | { decimal: string }

/** One CSV row (RFC 4180) with its line end, safe against spreadsheet formulas. */
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
