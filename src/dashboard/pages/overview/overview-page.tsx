/** The overview, which an account sees first: its money, its requests, and what to do next. */

import { Alert, Anchor, Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconChartBar, IconLock } from '@tabler/icons-react'
import { useCallback, useEffect } from 'react'
import { Link } from 'wouter'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { useLiveBalance, useLiveEvents } from '@/dashboard/live'
import { formatDrawnMoney, stepsBetween } from '@/dashboard/pages/usage/chart-steps'
import { RecordsList } from '@/dashboard/pages/usage/records-list'
import { queryClient } from '@/dashboard/query'
import { MoneyFigures, SpeedFigures } from './figures'
import { GettingStarted } from './getting-started'
import { OVERVIEW_KEY, type Overview, useOverview, useRecentRequests } from './overview-data'

const DAYS = 30
const MS_PER_DAY = 86_400_000

export function OverviewPage() {
  const refresh = useCallback(() => void queryClient.invalidateQueries({ queryKey: OVERVIEW_KEY }), [])
  useLiveEvents(refresh)
  const overview = useOverview()
  const { data } = overview
  const isNew = data !== undefined && !(data.started.hasKey && data.started.hasCredit && data.started.hasRequest)
  const balance = useLiveBalance()?.balance
  // The first credit is a step done.
  useEffect(() => {
    if (isNew && balance !== undefined) refresh()
  }, [isNew, balance, refresh])
  if (overview.isError && !data) {
    return (
      <Page title="Overview">
        <ErrorState error={overview.error} retry={overview.refetch} />
      </Page>
    )
  }
  return (
    <Page title="Overview">
      {data && <BalanceAlert overview={data} />}
      {isNew && <GettingStarted started={data.started} />}
      <MoneyFigures overview={data} />
      {data ? (
        <SpendChart days={data.days} />
      ) : (
        <Section title="Spend per day">
          <LoadingRows />
        </Section>
      )}
      {data?.started.hasRequest !== false && <SpeedFigures overview={data} />}
      {data?.started.hasRequest && <RecentRequests />}
    </Page>
  )
}

function RecentRequests() {
  const recent = useRecentRequests()
  return (
    <Section
      title="Recent requests"
      isFlush
      actions={
        <Anchor component={Link} href="/usage" size="sm">
          All usage
        </Anchor>
      }
    >
      <Loaded query={recent}>
        {({ items }) => <RecordsList items={items} recordPath={(id) => `/usage?request=${encodeURIComponent(id)}`} />}
      </Loaded>
    </Section>
  )
}

function BalanceAlert({ overview }: { overview: Overview }) {
  if (overview.isSuspended) {
    return (
      <Alert color="red" icon={<IconLock />} title="This account is suspended">
        <Text size="sm">Requests are refused with 403. Ask the operator of this service why.</Text>
      </Alert>
    )
  }
  const { level, daysLeft } = overview.hint
  if (level === 'ok' || !overview.started.hasCredit) return null
  return (
    <Alert
      color={level === 'low' ? 'yellow' : 'red'}
      icon={<IconAlertTriangle />}
      title={level === 'empty' ? 'Your credit is used up' : 'Your credit is running low'}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: '1 1 240px' }}>
          {level === 'empty' ? 'New requests are refused with 402 until you add credit.' : lastsText(daysLeft)}
        </Text>
        <Button component={Link} href="/credit" size="sm">
          Add credit
        </Button>
      </Group>
    </Alert>
  )
}

function lastsText(daysLeft: number | null): string {
  if (daysLeft === null) return 'Less than $1 is left.'
  const days = Math.floor(daysLeft)
  const time = days < 1 ? 'less than a day' : days === 1 ? 'about a day' : `about ${days} days`
  return `At the rate of the last seven days it lasts ${time}.`
}

function SpendChart({ days }: { days: Overview['days'] }) {
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
