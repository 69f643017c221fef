/** The page of one API key: usage, limits and actions. */
import { Anchor, Button, Group, SimpleGrid, Text } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { Link, useLocation, useParams } from 'wouter'
import { useMay } from '@/dashboard/account'
import { ApiError } from '@/dashboard/client'
import { StackedBars } from '@/dashboard/components/charts/stacked-bars'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { NotFound } from '@/dashboard/components/states/not-found'
import { formatCompact, formatCount, formatDay, formatMoney } from '@/dashboard/format'
import { useLiveEvents } from '@/dashboard/live'
import { useViewer } from '@/dashboard/session'
import { EditKey } from './edit-key'
import { activate, askToDeactivate, askToDelete } from './key-actions'
import { KeyBudgets } from './key-budgets'
import { KeyLimits } from './key-limits'
import { KeyKind, KeyStatus } from './key-state'
import { type KeyBody, keysChanged, maskedKey, useKey } from './keys-data'
import { FormerSecret, RotateKey } from './rotate-key'
import { TransferKey } from './transfer-key'

export function KeyPage() {
  const { keyId = '' } = useParams()
  const query = useKey(keyId)
  useLiveEvents(keysChanged)
  const item = query.data?.value.item
  if (query.error instanceof ApiError && query.error.status === 404) return <NotFound />
  return (
    <Page
      title={item?.name ?? 'API key'}
      description={item && <KeySummary item={item} />}
      actions={item && <KeyButtons item={item} etag={query.data?.etag} />}
    >
      <Loaded query={query}>
        {({ value: detail }) => (
          <>
            <FormerSecret item={detail.item} />
            <KeyStats detail={detail} />
            <Section
              title="Spend per day"
              description="The latest 30 days, in UTC"
              actions={
                <Group gap="md">
                  <Anchor component={Link} href={`/usage?key=${encodeURIComponent(keyId)}`} size="sm">
                    See every request
                  </Anchor>
                  <Anchor component={Link} href={`/failures?key=${encodeURIComponent(keyId)}`} size="sm">
                    Those that failed
                  </Anchor>
                </Group>
              }
            >
              <SpendChart days={detail.days} requests={detail.total.requests} />
            </Section>
            <Section title="Budgets" description="A request has to fit into each of them.">
              <KeyBudgets items={detail.budgets} />
            </Section>
            <Section title="Limits">
              <KeyLimits item={detail.item} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

type KeyDetail = NonNullable<ReturnType<typeof useKey>['data']>['value']

function KeySummary({ item }: { item: KeyBody }) {
  return (
    <Group gap="sm">
      <KeyStatus status={item.status} />
      <KeyKind item={item} />
      <Text span size="sm" ff="monospace">
        {maskedKey(item)}
      </Text>
      <Text span size="sm" className="wrap-anywhere">
        {item.createdBy ? `Of ${item.createdBy.name}, created` : 'Created'} <Moment at={item.createdAt} />, last used{' '}
        <Moment at={item.lastUsedAt} isRelative never="never" />
      </Text>
    </Group>
  )
}

function KeyButtons({ item, etag }: { item: KeyBody; etag: string | undefined }) {
  const [, navigate] = useLocation()
  const may = useMay()
  const edit = may('keys.change') && <EditKey item={item} etag={etag} />
  const { data: viewer } = useViewer()
  if (!may('keys.use')) {
    const isKept = item.status === 'active' && item.createdBy?.userId === viewer?.userId
    return (
      <>
        {edit}
        {isKept && (
          <Button variant="default" onClick={() => askToDeactivate(item)}>
            Deactivate
          </Button>
        )}
      </>
    )
  }
  return (
    <>
      {edit}
      {!item.builtIn && <RotateKey item={item} />}
      {!item.builtIn && may('members.change') && <TransferKey item={item} />}
      {item.status === 'deactivated' ? (
        <Button variant="default" onClick={() => void activate(item)}>
          Activate
        </Button>
      ) : (
        <Button variant="default" onClick={() => askToDeactivate(item)}>
          Deactivate
        </Button>
      )}
      {!item.builtIn && (
        <Button variant="default" onClick={() => askToDelete(item, () => navigate('/keys'))}>
          Delete
        </Button>
      )}
    </>
  )
}

function KeyStats({ detail: { item, total, openRequests, heldUsd } }: { detail: KeyDetail }) {
  const { monthlyBudgetUsd } = item.limits
  const share = total.requests === 0 ? 0 : (total.errors / total.requests) * 100
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="md">
      <Stat
        label="Spent this month"
        value={<Money usd={item.spentThisMonthUsd} />}
        hint={monthlyBudgetUsd === null ? 'No monthly budget' : `of ${formatMoney(monthlyBudgetUsd)} budget`}
      />
      <Stat
        label="Open requests"
        value={formatCount(openRequests)}
        hint={
          <>
            holding <Money usd={heldUsd} />
          </>
        }
      />
      <Stat
        label="Requests, 30 days"
        value={formatCompact(total.requests)}
        hint={`${formatCount(total.errors)} with errors (${share.toFixed(1)}%)`}
      />
      <Stat
        label="Tokens, 30 days"
        value={formatCompact(total.inputTokens + total.outputTokens)}
        hint={`${formatCompact(total.inputTokens)} in, ${formatCompact(total.outputTokens)} out`}
      />
    </SimpleGrid>
  )
}

function SpendChart({ days, requests }: { days: KeyDetail['days']; requests: number }) {
  if (requests === 0) {
    return (
      <EmptyState icon={IconChartBar} title="No requests in the latest 30 days">
        What this key spends appears here within seconds of its first request.
      </EmptyState>
    )
  }
  return (
    <StackedBars
      label="Spend per day"
      formatValue={formatDrawn}
      buckets={days.map(({ day, spentUsd }) => ({
        key: day,
        label: shortDay(day),
        longLabel: formatDay(day),
        values: { Spend: Number(spentUsd) },
      }))}
    />
  )
}

/** Formats an amount of the chart. Exact amounts are texts. */
function formatDrawn(usd: number): string {
  return formatMoney(usd.toFixed(9).replace(/0+$/, ''))
}

function shortDay(day: string): string {
  return formatDay(day).replace(/ \d{4}$/, '')
}
