/** The figures of a chart as a table, for who can't or won't point at its bars. */
import { Table } from '@mantine/core'
import { type ChartData, totalOf } from './chart-data'

type BarsTableProps = {
  label: string
  data: ChartData
  formatValue(value: number): string
  maxHeight: number
}

export function BarsTable({ label, data: { series, buckets }, formatValue, maxHeight }: BarsTableProps) {
  return (
    <Table.ScrollContainer minWidth={320} maxHeight={maxHeight} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table stickyHeader captionSide="top" className="figures" fz="sm">
        <Table.Caption>{label}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Time</Table.Th>
            {series.map((name) => (
              <Table.Th key={name} scope="col" ta="right">
                {name}
              </Table.Th>
            ))}
            <Table.Th scope="col" ta="right">
              Total
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {buckets.map((bucket) => (
            <Table.Tr key={bucket.key}>
              <Table.Th scope="row" fw={400}>
                {bucket.longLabel ?? bucket.label}
              </Table.Th>
              {series.map((name) => (
                <Table.Td key={name} ta="right">
                  {formatValue(bucket.values[name] ?? 0)}
                </Table.Td>
              ))}
              <Table.Td ta="right">{formatValue(totalOf(bucket))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
