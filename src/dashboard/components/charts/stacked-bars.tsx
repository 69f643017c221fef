/** Bars over time, stacked by series; the same figures can be read as a table, by keyboard and by screen readers. */
import { Box, Button, Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { BarsDrawing } from './bars-drawing'
import { BarsTable } from './bars-table'
import { type Bucket, colorOf, topSeries, totalOf } from './chart-data'

type StackedBarsProps = {
  /** What is shown, e.g. `Spend per day by model`. */
  label: string
  buckets: readonly Bucket[]
  formatValue(value: number): string
  /** Pixels. */
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
