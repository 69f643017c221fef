/** Rows of texts as a table, or, where the terminal is too narrow for one, as blocks. */

const GAP = '  '
/** What would move the cursor, colour the screen or end a line: names and notes come from customers. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** The text as a terminal may have it. */
export function plain(text: string): string {
  return text.replace(CONTROL, '�')
}

/** `rows` with the names of their columns above them. */
export function formatTable(rows: readonly Readonly<Record<string, string>>[], columns: number): string {
  if (rows.length === 0) return '(none)'
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cells = [names.map((name) => name.toUpperCase()), ...rows.map((row) => names.map((name) => row[name] ?? ''))]
  const widths = names.map((_, column) => Math.max(...cells.map((line) => widthOf(line[column] ?? ''))))
  const isNumber = names.map((name) => rows.every((row) => /^-?[\d.,]*$|^–$/.test(row[name] ?? '')))
  if (widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) > columns) return formatBlocks(rows)
  return cells
    .map((line) => line.map((cell, column) => padded(cell, widths[column] ?? 0, isNumber[column] ?? false)))
    .map((line) => line.join(GAP).trimEnd())
    .join('\n')
}

function formatBlocks(rows: readonly Readonly<Record<string, string>>[]): string {
  const width = Math.max(...rows.flatMap((row) => Object.keys(row)).map((name) => name.length))
  return rows
    .map((row) => Object.entries(row).map(([name, text]) => `${name.padEnd(width)}  ${text}`.trimEnd()))
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** Numbers stand at the right, under each other. */
function padded(cell: string, width: number, isNumber: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return isNumber ? blanks + cell : cell + blanks
}

function widthOf(text: string): number {
  return Bun.stringWidth(text)
}
