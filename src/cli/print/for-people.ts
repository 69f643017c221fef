const GAP = '  '
/** Characters that would move the cursor, colour the screen or end a line; customers' texts may contain them. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

type Row = Readonly<Record<string, unknown>>

/** Prints a result for a person: facts below each other, lists as tables, if possible not wider than `columns`. */
export function formatForPeople(output: Row, columns: number): string {
  const facts: [string, string][] = []
  const sections: string[] = []
  for (const [name, value] of flattened(output)) {
    if (name === 'nextCursor') {
      if (value !== null) sections.push(`There is more: --cursor ${String(value)}`)
    } else if (isRows(value)) {
      sections.push(`${labelOf(name)}\n${formatTable(value.map(textsOf), columns)}`)
    } else facts.push([labelOf(name), textOf(value)])
  }
  const width = Math.max(0, ...facts.map(([label]) => label.length))
  const lines = facts.map(([label, text]) => `${label.padEnd(width)}  ${text}`.trimEnd())
  return `${[...(lines.length > 0 ? [lines.join('\n')] : []), ...sections].join('\n\n')}\n`
}

/** Nested facts get dotted names, such as `usage.output`. */
function flattened(output: Row, before = ''): [string, unknown][] {
  return Object.entries(output).flatMap(([name, value]): [string, unknown][] =>
    isRow(value) ? flattened(value, `${before}${name}.`) : [[before + name, value]],
  )
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** An empty list counts as rows too: its table shows that there are none. */
function isRows(value: unknown): value is Row[] {
  return Array.isArray(value) && value.every(isRow)
}

function textsOf(row: Row): Record<string, string> {
  return Object.fromEntries(flattened(row).map(([name, value]) => [labelOf(name), textOf(value)]))
}

function labelOf(name: string): string {
  return name
    .replaceAll('.', ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\busd\b/, 'USD')
    .replace(/^is /, '')
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(textOf).join(', ')
  return plain(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

function plain(text: string): string {
  return text.replace(CONTROL, '�')
}

/** `rows` below their column names. */
function formatTable(rows: readonly Readonly<Record<string, string>>[], columns: number): string {
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

/** Numbers are aligned to the right. */
function padded(cell: string, width: number, isNumber: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return isNumber ? blanks + cell : cell + blanks
}

function widthOf(text: string): number {
  return Bun.stringWidth(text)
}
