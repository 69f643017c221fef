/** A table defined by its columns, with one row per item. */
import { Table, type TableProps, type TableTdProps, type TableThProps, VisuallyHidden } from '@mantine/core'
import type { Key, ReactNode } from 'react'

/** Props apply to all cells; the header uses alignment, width and visibility. */
type Column<Item> = Pick<TableTdProps, 'className' | 'maw' | 'miw' | 'style' | 'ta' | 'visibleFrom' | 'w'> & {
  title: string
  cell(item: Item): ReactNode
}

type Head = Pick<TableThProps, 'ta' | 'visibleFrom' | 'w'> & { title: string; isHidden?: boolean }

export const FIGURES = { ta: 'right', className: 'figures' } as const

/** Props of a table that may be too wide: focusable by keyboard, with space for the scrollbar. */
export const SCROLLED = { offsetScrollbars: 'present', viewportProps: { tabIndex: 0 } } as const

type DataTableProps<Item> = Omit<TableProps, 'children'> & {
  items: readonly Item[]
  keyOf(item: Item): Key
  columns: readonly Column<Item>[]
  /** If less width is available (in pixels), the table scrolls sideways. */
  minWidth?: number
  rowStyle?(item: Item): TableTdProps['style']
}

/** The header row of a table with irregular rows. */
export function Heads({ columns }: { columns: readonly Head[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ title, isHidden, ta, visibleFrom, w }) => (
          <Table.Th key={title} scope="col" ta={ta} visibleFrom={visibleFrom} w={w}>
            {isHidden ? <VisuallyHidden>{title}</VisuallyHidden> : title}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  )
}

/** A table with a row for each of `items`. */
export function DataTable<Item>({ items, keyOf, columns, minWidth, rowStyle, ...look }: DataTableProps<Item>) {
  const table = (
    <Table verticalSpacing="sm" horizontalSpacing="lg" {...look}>
      <Heads columns={columns} />
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={keyOf(item)} style={rowStyle?.(item)}>
            {columns.map(({ title, cell, w: _, ...cellLook }) => (
              <Table.Td key={title} {...cellLook}>
                {cell(item)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
  if (minWidth === undefined) return table
  return (
    <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={SCROLLED}>
      {table}
    </Table.ScrollContainer>
  )
}
