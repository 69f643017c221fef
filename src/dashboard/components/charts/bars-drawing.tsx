/** Draws stacked bars with a tooltip at the pointer. Keyboard users have a table instead. */
import { Box, Group, Paper, Text } from '@mantine/core'
import { AxisBottom, AxisLeft } from '@visx/axis'
import { scaleBand, scaleLinear, scaleOrdinal } from '@visx/scale'
import { BarStack } from '@visx/shape'
import { type PointerEvent, useState } from 'react'
import { type Bucket, type ChartData, colorOf, totalOf } from './chart-data'

type BarsDrawingProps = {
  data: ChartData
  /** For screen readers. */
  label: string
  width: number
  height: number
  formatValue(value: number): string
}

const MARGIN = { top: 8, right: 8, bottom: 26, left: 60 }
const TICKS = 4
const LABEL_WIDTH = 64
const TOOLTIP_WIDTH = 220
const SEPARATOR = 1

export function BarsDrawing({ data, label, width, height, formatValue }: BarsDrawingProps) {
  const { series, buckets } = data
  const [at, setAt] = useState<number>()
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom }
  const x = scaleBand({ domain: buckets.map(({ key }) => key), range: [0, inner.width], padding: 0.25 })
  const highest = Math.max(...buckets.map(totalOf), 0)
  const y = scaleLinear({ domain: [0, highest || 1], range: [inner.height, 0], nice: true })
  const color = scaleOrdinal({ domain: series, range: series.map((_, index) => colorOf(index)) })
  const labels = new Map(buckets.map((bucket) => [bucket.key, bucket.label]))
  const step = Math.max(1, Math.ceil((buckets.length * LABEL_WIDTH) / Math.max(inner.width, 1)))

  function follow(event: PointerEvent<SVGSVGElement>) {
    const offset = event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left
    const index = Math.floor(offset / x.step())
    setAt(index >= 0 && index < buckets.length ? index : undefined)
  }

  const bucket = at === undefined ? undefined : buckets[at]
  return (
    <Box pos="relative">
      <svg
        className="chart"
        width={width}
        height={height}
        role="img"
        aria-label={label}
        onPointerMove={follow}
        onPointerLeave={() => setAt(undefined)}
      >
        <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
          {y.ticks(TICKS).map((tick) => (
            <line key={tick} className="gridline" x1={0} x2={inner.width} y1={y(tick)} y2={y(tick)} />
          ))}
          <BarStack
            data={buckets}
            keys={series}
            x={(item: Bucket) => item.key}
            value={(item: Bucket, name) => item.values[name] ?? 0}
            xScale={x}
            yScale={y}
            color={color}
          >
            {(stacks) =>
              stacks.flatMap((stack) =>
                stack.bars.map((bar) => (
                  <rect
                    key={`${stack.key}-${bar.index}`}
                    x={bar.x}
                    y={bar.y}
                    width={bar.width}
                    height={drawnHeight(bar.height)}
                    fill={bar.color}
                    opacity={at === undefined || at === bar.index ? 1 : 0.45}
                  />
                )),
              )
            }
          </BarStack>
          <AxisLeft
            scale={y}
            numTicks={TICKS}
            tickFormat={(value) => formatValue(Number(value))}
            hideAxisLine
            hideTicks
          />
          <AxisBottom
            scale={x}
            top={inner.height}
            tickValues={buckets.filter((_, index) => index % step === 0).map(({ key }) => key)}
            tickFormat={(key) => labels.get(key) ?? ''}
            stroke="var(--hairline)"
            hideTicks
          />
        </g>
      </svg>
      {bucket && (
        <Tip
          bucket={bucket}
          series={series}
          formatValue={formatValue}
          left={tipLeft(MARGIN.left + (x(bucket.key) ?? 0), width)}
        />
      )}
    </Box>
  )
}

/** A gap separates the parts, for people who cannot distinguish their colours. Very low parts have no gap. */
function drawnHeight(height: number): number {
  return height > 2 * SEPARATOR ? height - SEPARATOR : Math.max(0, height)
}

function tipLeft(wanted: number, width: number): number {
  return Math.max(0, Math.min(wanted, width - TOOLTIP_WIDTH))
}

type TipProps = { bucket: Bucket; series: readonly string[]; left: number; formatValue(value: number): string }

function Tip({ bucket, series, left, formatValue }: TipProps) {
  return (
    <Paper
      shadow="md"
      p="xs"
      pos="absolute"
      top={0}
      left={left}
      w={TOOLTIP_WIDTH}
      style={{ pointerEvents: 'none' }}
      role="status"
    >
      <Group justify="space-between" mb={4} wrap="nowrap">
        <Text size="xs" fw={600}>
          {bucket.longLabel ?? bucket.label}
        </Text>
        <Text size="xs" fw={600} className="figures">
          {formatValue(totalOf(bucket))}
        </Text>
      </Group>
      {series.map((name, index) =>
        bucket.values[name] ? (
          <Group key={name} justify="space-between" gap="xs" wrap="nowrap">
            <Group gap={6} wrap="nowrap">
              <Box w={8} h={8} style={{ borderRadius: 2, background: colorOf(index), flexShrink: 0 }} />
              <Text size="xs" className="wrap-anywhere">
                {name}
              </Text>
            </Group>
            <Text size="xs" className="figures">
              {formatValue(bucket.values[name] ?? 0)}
            </Text>
          </Group>
        ) : null,
      )}
    </Paper>
  )
}
