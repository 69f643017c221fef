/** The page of one batch: its progress, why it is paused, what failed first, and its results. */
import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import { useMay } from '@/dashboard/account'
import { ApiError } from '@/dashboard/client'
import { confirm } from '@/dashboard/components/confirm'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { notifyDone } from '@/dashboard/components/notify'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { Loaded } from '@/dashboard/components/states/loaded'
import { NotFound } from '@/dashboard/components/states/not-found'
import { formatCount, formatMoney } from '@/dashboard/format'
import { askAgain, NEWS_MS } from '@/dashboard/query'
import { accountPath } from '@/dashboard/shown-account'
import { perform, type ResultOf } from '@/people/client'
import { PAUSE_WORDS } from './fields'
import { BATCHES, BatchProgress, BatchStatus, isRunning } from './pages'

type BatchDetail = ResultOf<'GET /batches/:id'>
type BatchBody = BatchDetail['item']

/** The page of one batch. */
export function BatchPage() {
  const { batchId: id = '' } = useParams<{ batchId: string }>()
  const query = useQuery({
    queryKey: [...BATCHES, id],
    queryFn: () => perform('GET /batches/:id', { id }),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data.item) ? NEWS_MS : false),
  })
  if (query.error instanceof ApiError && query.error.status === 404) return <NotFound />
  const detail = query.data
  return (
    <Page
      title="Batch"
      description={detail && <BatchSummary item={detail.item} id={id} />}
      actions={detail?.mayManage && <BatchButtons item={detail.item} />}
    >
      <Loaded query={query}>
        {({ item, errors }) => (
          <>
            <PauseAlert item={item} />
            <BatchFigures item={item} />
            {errors.length > 0 && <FirstErrors errors={errors} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function BatchSummary({ item, id }: { item: BatchBody; id: string }) {
  return (
    <Stack gap={4}>
      <Group gap="sm">
        <BatchStatus state={item.state} />
        <Text span size="sm" ff="monospace" className="wrap-anywhere">
          {id}
        </Text>
      </Group>
      <Text size="sm" className="wrap-anywhere">
        {[item.endpoint, ...item.models].join(' · ')}, by the key {item.keyName ?? item.keyId}
      </Text>
    </Stack>
  )
}

function BatchButtons({ item }: { item: BatchBody }) {
  const { id, requests } = item
  return (
    <>
      {requests.succeeded > 0 && <Download id={id} file="output" label="Download answers" />}
      {requests.errored + requests.canceled + requests.expired > 0 && (
        <Download id={id} file="errors" label="Download errors" />
      )}
      {isRunning(item) && item.state !== 'cancelling' && (
        <Button variant="default" onClick={() => askToCancel(item)}>
          Cancel
        </Button>
      )}
    </>
  )
}

function Download({ id, file, label }: { id: string; file: 'output' | 'errors'; label: string }) {
  return (
    <Button
      component="a"
      variant="default"
      href={accountPath(`batches/${id}/${file}`)}
      download
      leftSection={<IconDownload size={16} />}
    >
      {label}
    </Button>
  )
}

function askToCancel({ id }: BatchBody): void {
  confirm({
    title: 'Cancel this batch?',
    body: 'Requests that run now come to their end and are charged. The others are not sent, and cost nothing. This cannot be undone.',
    action: 'Cancel batch',
    async run() {
      await perform('POST /batches/:id/cancel', { id })
      await askAgain({ queryKey: BATCHES })
      notifyDone('The batch is cancelled.')
    },
  })
}

function PauseAlert({ item: { pause, endsAt } }: { item: BatchBody }) {
  const mayPay = useMay()('billing.pay')
  if (pause === null) return null
  const { title, text } = PAUSE_WORDS[pause]
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={title}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ flex: '1 1 240px' }}>
          {text} Requests that have not run by <Moment at={endsAt} /> expire.
        </Text>
        {pause === 'no_credit' && mayPay && (
          <Button component={Link} href="/credit" size="sm">
            Add credit
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function BatchFigures({ item }: { item: BatchBody }) {
  const { requests, createdAt, endsAt, endedAt, expiresAt } = item
  const unsent = requests.canceled + requests.expired
  return (
    <>
      <Section title="Progress">
        <BatchProgress item={item} />
      </Section>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="md">
        <Stat
          label="Cost so far"
          value={<Money usd={item.costUsd} />}
          hint={`of at most ${formatMoney(item.mostUsd)}`}
        />
        <Stat
          label="Succeeded"
          value={formatCount(requests.succeeded)}
          hint={`${formatCount(requests.errored)} failed, ${formatCount(unsent)} not sent`}
        />
        <Stat
          label={endedAt === null ? 'Ends at the latest' : 'Ended'}
          value={<Moment at={endedAt ?? endsAt} isRelative />}
          hint={
            <>
              Created <Moment at={createdAt} />
            </>
          }
        />
        <Stat
          label="Results until"
          value={<Moment at={expiresAt} isRelative />}
          hint="Then the batch is deleted with its results"
        />
      </SimpleGrid>
    </>
  )
}

function FirstErrors({ errors }: Pick<BatchDetail, 'errors'>) {
  return (
    <Section title="First errors" description="All of them are in the file of errors." isFlush>
      <DataTable
        items={errors}
        keyOf={({ customId }) => customId}
        columns={[
          {
            title: 'Request',
            maw: 220,
            cell: ({ customId }) => (
              <Text size="sm" ff="monospace" className="wrap-anywhere">
                {customId}
              </Text>
            ),
          },
          { title: 'Status', w: 80, visibleFrom: 'xs', cell: ({ status }) => status ?? '–' },
          {
            title: 'Reason',
            cell: ({ message }) => (
              <Text size="sm" className="wrap-anywhere">
                {message}
              </Text>
            ),
          },
        ]}
      />
    </Section>
  )
}
