/** A table of marks in Markdown, in which rows with the same marks share one. */

/** One row: what it is about, and a mark for each column. */
export interface Row {
  name: string
  marks: readonly string[]
}

/** Whether nothing is lost in any column. */
export const isCarried = ({ marks }: Row) => marks.every((mark) => mark === '✓')

/** The table, without columns that no row has a mark in; a row stands where the first of those that share it would. */
export function renderRows(corner: string, columns: readonly string[], rows: readonly Row[]): string {
  const isUsed = (_: string, index: number) => rows.some(({ marks }) => marks[index] !== '')
  const shared = Map.groupBy(rows, ({ marks }) => marks.filter(isUsed).join(' | '))
  const used = columns.filter(isUsed)
  return [
    `| ${corner} | ${used.join(' | ')} |`,
    `|---|${used.map(() => ':-:').join('|')}|`,
    ...[...shared].map(([marks, of]) => `| ${of.map(({ name }) => name).join('<br>')} | ${marks} |`),
  ].join('\n')
}
