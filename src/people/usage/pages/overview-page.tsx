/** The overview page: figures, spending by day, and next steps for a new account. */
import { Alert, Anchor, Box, Button, Group, SimpleGrid, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconChartBar, IconCheck, IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { Link } from 'wouter'
import { type Permission, useMay } from '@/dashboard/account'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Rows } from '@/dashboard/components/lists/rows'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { formatCount, formatDuration, formatMoney } from '@/dashboard/format'
import { useLiveBalance, useLiveEvents } from '@/dashboard/live'
import { askAgain } from '@/dashboard/query'
import { perform } from '@/people/client'
import { formatDrawnMoney, stepsBetween } from './chart-steps'
import { RecordsList } from './records-list'

const DAYS = 30
const MS_PER_DAY = 86_400_000

export function OverviewPage() {
  const refresh = useCallback(() => void askAgain({ queryKey: OVERVIEW_KEY }), [])
  useLiveEvents(refresh)
  const overview = useOverview()
  const { data } = overview
  const isNew = data !== undefined && !(data.started.hasKey && data.started.hasCredit && data.started.hasRequest)
  const balance = useLiveBalance()?.balance
  // The first credit completes a step, so the steps are reloaded.
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

const LAST_WEEK = 'Mean of the last 7 days'

function MoneyFigures({ overview }: { overview: Overview | undefined }) {
  const live = useLiveBalance()
  const money = live ?? overview
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Stat
        label="Balance"
        value={money && <Money usd={money.balance} />}
        hint={
          money &&
          (money.held === '0' ? 'Nothing held by open requests' : `${formatMoney(money.held)} held by open requests`)
        }
      />
      <Stat label="Spent today" value={overview && <Money usd={overview.spentToday} />} hint="Since midnight UTC" />
      <Stat label="Spent this month" value={money && <Money usd={money.spentThisMonth} />} hint="Calendar month, UTC" />
      <Stat
        label="Requests"
        value={overview && formatCount(overview.requests)}
        hint={overview && `${errorsText(overview)}, last 7 days`}
      />
    </SimpleGrid>
  )
}

function SpeedFigures({ overview }: { overview: Overview | undefined }) {
  const speed = overview?.speed
  const time = (milliseconds: number | null) => (milliseconds === null ? '–' : formatDuration(milliseconds))
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Stat label="First token" value={speed && time(speed.firstTokenMs)} hint={LAST_WEEK} />
      <Stat label="Whole answer" value={speed && time(speed.durationMs)} hint={LAST_WEEK} />
      <Stat
        label="Tokens per second"
        value={speed && (speed.tokensPerSecond === null ? '–' : formatCount(Math.round(speed.tokensPerSecond)))}
        hint={LAST_WEEK}
      />
      <Stat label="Active keys" value={overview && formatCount(overview.activeKeys)} hint="Keys that can be used now" />
    </SimpleGrid>
  )
}

function errorsText({ errors }: Overview): string {
  return errors === 1 ? '1 with an error' : `${formatCount(errors)} with an error`
}

type Step = { isDone: boolean; title: string; text: string; path: string; action: string; may: Permission }

function GettingStarted({ started }: { started: Overview['started'] }) {
  const may = useMay()
  const all: Step[] = [
    {
      isDone: started.hasCredit,
      title: 'Add credit',
      text: 'Requests are paid from prepaid credit. Nothing is charged beyond it.',
      path: '/credit',
      may: 'billing.pay',
      action: 'Add credit',
    },
    {
      isDone: started.hasKey,
      title: 'Create an API key',
      text: 'It is shown once, with a snippet that is ready to run.',
      path: '/keys',
      may: 'keys.use',
      action: 'Create a key',
    },
    {
      isDone: started.hasRequest,
      title: 'Send a first request',
      text: 'With your key, or in the playground without writing any code.',
      path: '/playground',
      may: 'keys.use',
      action: 'Open the playground',
    },
  ]
  const steps = all.filter((step) => may(step.may))
  if (steps.length === 0) return null
  const next = steps.findIndex((step) => !step.isDone)
  const done = steps.filter((step) => step.isDone).length
  return (
    <Section title="Getting started" description={`${done} of ${steps.length} steps done`}>
      <Rows isOrdered gap="md">
        {steps.map((step, index) => (
          <StepRow key={step.path} step={step} number={index + 1} isNext={index === next} />
        ))}
      </Rows>
    </Section>
  )
}

function StepRow({ step, number, isNext }: { step: Step; number: number; isNext: boolean }) {
  return (
    <Group component="li" gap="md" align="center">
      <ThemeIcon variant={step.isDone ? 'light' : 'default'} color="green" radius="xl" size={32}>
        {step.isDone ? <IconCheck size={18} aria-label="Done" /> : <span aria-hidden="true">{number}</span>}
      </ThemeIcon>
      <Box style={{ flex: '1 1 220px' }}>
        <Text fw={600} size="sm">
          {step.title}
        </Text>
        <Text size="sm" c="dimmed">
          {step.text}
        </Text>
      </Box>
      {!step.isDone && (
        <Button component={Link} href={step.path} size="sm" variant={isNext ? 'filled' : 'default'}>
          {step.action}
        </Button>
      )}
    </Group>
  )
}

const OVERVIEW_KEY = ['overview'] as const
const RECENT_COUNT = 8

function useOverview() {
  return useQuery({ queryKey: [...OVERVIEW_KEY, 'figures'], queryFn: () => perform('GET /overview', {}) })
}

type Overview = NonNullable<ReturnType<typeof useOverview>['data']>

function useRecentRequests() {
  return useQuery({
    queryKey: [...OVERVIEW_KEY, 'recent'],
    queryFn: () => perform('GET /usage', { limit: RECENT_COUNT }),
  })
}
