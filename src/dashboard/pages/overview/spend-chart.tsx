/** The chart of spending per day and model over the last thirty days. */
import { IconChartBar } from '@tabler/icons-react'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { formatDrawnMoney, stepsBetween } from '@/dashboard/pages/usage/chart-steps'
import type { Overview } from './overview-data'

const DAYS = 30
const MS_PER_DAY = 86_400_000

export function SpendChart({ days }: { days: Overview['days'] }) {
  return (
    <Section title="Spend per day" description="The last 30 days by model; days are in UTC">
      {days.length === 0 ? (
        <EmptyState icon={IconChartBar} title="Nothing spent yet">
          Each day's spending is drawn here, by model.
        </EmptyState>
      ) : (
        <StackedBars label="Spend per day by model" buckets={toBuckets(days)} formatValue={formatDrawnMoney} />
      )}
    </Section>
  )
}

function toBuckets(days: Overview['days']) {
  const values = new Map<string, Record<string, number>>()
  for (const { day, model, cost } of days) values.set(day, { ...values.get(day), [model]: Number(cost) })
  const today = new Date().toISOString()
  const first = new Date(Date.now() - (DAYS - 1) * MS_PER_DAY).toISOString()
  return stepsBetween(first, today, 'day').map((step) => ({ ...step, values: values.get(step.key.slice(0, 10)) ?? {} }))
}
