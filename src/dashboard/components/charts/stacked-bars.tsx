/** A stacked bar chart over time, with a table of the same figures for keyboards and screen readers. */
import { Box, Button, Group, Table, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { BarsDrawing } from './bars-drawing'
import { type Bucket, type ChartData, colorOf, topSeries, totalOf } from './chart-data'

type StackedBarsProps = {
  label: string
  buckets: readonly Bucket[]
  formatValue(value: number): string
  height?: number
}

const DEFAULT_HEIGHT = 240

export function StackedBars({ label, buckets, formatValue, height = DEFAULT_HEIGHT }: StackedBarsProps) {
  const { ref, width } = useElementSize()
  const [isTable, setTable] = useState(false)
  const data = topSeries(buckets)
  const total = buckets.reduce((sum, bucket) => sum + totalOf(bucket), 0)
  return (
    <Box>
      <Box ref={ref} mih={height}>
        {isTable ? (
          <BarsTable label={label} data={data} formatValue={formatValue} maxHeight={height} />
        ) : (
          width > 0 && (
            <BarsDrawing
              data={data}
              formatValue={formatValue}
              width={width}
              height={height}
              label={`${label}: ${formatValue(total)} in ${buckets.length} bars`}
            />
          )
        )}
      </Box>
      <Group justify="space-between" mt="xs" gap="xs" align="flex-start">
        <Group gap="md" style={{ flex: 1 }}>
          {data.series.map((name, index) => (
            <Group key={name} gap={6} wrap="nowrap">
              <Box w={10} h={10} style={{ borderRadius: 3, background: colorOf(index) }} aria-hidden="true" />
              <Text size="xs" c="dimmed" className="wrap-anywhere">
                {name}
              </Text>
            </Group>
          ))}
        </Group>
        <Button variant="subtle" size="compact-xs" color="gray" onClick={() => setTable(!isTable)} className="no-print">
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </Group>
    </Box>
  )
}

type BarsTableProps = {
  label: string
  data: ChartData
  formatValue(value: number): string
  maxHeight: number
}

function BarsTable({ label, data: { series, buckets }, formatValue, maxHeight }: BarsTableProps) {
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
