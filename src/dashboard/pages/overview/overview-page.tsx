/** The overview, which an account sees first: its money, its requests, and what to do next. */
import { Anchor } from '@mantine/core'
import { useCallback, useEffect } from 'react'
import { Link } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { useLiveBalance, useLiveEvents } from '@/dashboard/live'
import { RecordsList } from '@/dashboard/pages/usage/records-list'
import { queryClient } from '@/dashboard/query'
import { BalanceAlert } from './balance-alert'
import { MoneyFigures, SpeedFigures } from './figures'
import { GettingStarted } from './getting-started'
import { OVERVIEW_KEY, useOverview, useRecentRequests } from './overview-data'
import { SpendChart } from './spend-chart'

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
