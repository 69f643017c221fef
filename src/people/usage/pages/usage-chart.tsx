/** The usage page's chart: cost, requests or tokens over time, by model, key or outcome. */
import { Alert, Group, SegmentedControl, Select, Text } from '@mantine/core'
import { IconChartBarOff } from '@tabler/icons-react'
import { useState } from 'react'
import type { Bucket } from '@/dashboard/components/charts/chart-data'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Former } from '@/dashboard/components/states/former'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatCompact } from '@/dashboard/format'
import { ArchiveEnd } from './archived-note'
import { formatDrawnMoney, stepsBetween } from './chart-steps'
import type { UsageFilters } from './filters'
import { toQuery } from './filters'
import { type SeriesGroup, type UsageSeries, useSeries } from './usage-data'

const MEASURES = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
] as const
const GROUPS: { value: SeriesGroup; label: string }[] = [
  { value: 'model', label: 'Model' },
  { value: 'key', label: 'Key' },
  { value: 'status', label: 'Outcome' },
  { value: 'member', label: 'Member' },
  { value: 'tag', label: 'Tags' },
  { value: 'app', label: 'App' },
]

type Measure = (typeof MEASURES)[number]['value']

export function UsageChart({ filters }: { filters: UsageFilters }) {
  const [measure, setMeasure] = useState<Measure>('cost')
  const [group, setGroup] = useState<SeriesGroup>('model')
  const series = useSeries(filters, group)
  return (
    <Section
      title="Over time"
      description={series.data?.step === 'hour' ? 'By the hour' : 'By the day, in UTC'}
      actions={
        <Group gap="xs" className="no-print">
          <SegmentedControl
            size="xs"
            aria-label="What is shown"
            data={[...MEASURES]}
            value={measure}
            onChange={(value) => setMeasure(value as Measure)}
          />
          <Select
            size="xs"
            w={120}
            aria-label="Split by"
            data={GROUPS}
            value={group}
            allowDeselect={false}
            onChange={(value) => setGroup((value ?? 'model') as SeriesGroup)}
          />
        </Group>
      }
    >
      <Loaded query={series}>
        {(data) => (
          <Former isFormer={series.isPlaceholderData}>
            <Chart data={data} measure={measure} />
          </Former>
        )}
      </Loaded>
    </Section>
  )
}

function Chart({ data, measure }: { data: UsageSeries; measure: Measure }) {
  if (data.points.length === 0) {
    return <EmptyState icon={IconChartBarOff} title="No charged requests in this time" />
  }
  const name = MEASURES.find(({ value }) => value === measure)?.label
  const split = GROUPS.find(({ value }) => value === data.group)?.label.toLowerCase()
  return (
    <>
      {data.archivedBefore !== null && (
        <Text size="sm" c="dimmed" mb="md">
          The chart begins at <ArchiveEnd before={data.archivedBefore} />: split like this, earlier requests cannot be
          told apart.
        </Text>
      )}
      {!data.isComplete && (
        <Alert color="yellow" mb="md">
          <Text size="sm">
            There are too many requests to draw them all: the oldest are missing. Choose a shorter time.
          </Text>
        </Alert>
      )}
      <StackedBars
        label={`${name} by ${split} per ${data.step}`}
        buckets={toBuckets(data, measure)}
        formatValue={measure === 'cost' ? formatDrawnMoney : formatCompact}
      />
    </>
  )
}

/** One bucket per hour or day, including empty ones, so that the bars are placed by time. */
function toBuckets({ step, points, labels, filters }: UsageSeries, measure: Measure): Bucket[] {
  const values = new Map<string, Record<string, number>>()
  for (const point of points) {
    const bucket = values.get(point.at) ?? {}
    const label = outcomeLabel(labels[point.group] ?? point.group)
    bucket[label] = (bucket[label] ?? 0) + Number(point[measure])
    values.set(point.at, bucket)
  }
  const { from } = toQuery(filters)
  const first = points[0]?.at ?? ''
  const start = from !== undefined && filters.range !== '365d' && from < first ? from : first
  return stepsBetween(start, points.at(-1)?.at ?? start, step).map((bucket) => ({
    ...bucket,
    values: values.get(bucket.key) ?? {},
  }))
}

const OUTCOMES: Readonly<Record<string, string>> = { ok: 'Succeeded', left: 'Client went away', error: 'Errors' }

function outcomeLabel(label: string): string {
  return OUTCOMES[label] ?? label
}
