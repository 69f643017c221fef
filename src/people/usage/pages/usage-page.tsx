/** The usage page: every charged request, its cost and billing rule, as a chart and a list. */

import { ActionIcon, Alert, Anchor, Button, Group, SimpleGrid, Text, TextInput } from '@mantine/core'
import { IconDownload, IconListSearch, IconSearch } from '@tabler/icons-react'
import { useCallback, useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Former } from '@/dashboard/components/states/former'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { formatCompact, formatCount } from '@/dashboard/format'
import { useLiveEvents } from '@/dashboard/live'
import { askAgain } from '@/dashboard/query'
import { accountPath } from '@/dashboard/shown-account'
import { ArchivedNote, ArchiveEnd, NothingSince } from './archived-note'
import { FilterBar } from './filter-bar'
import { toQuery, type UsageFilters, useFilters } from './filters'
import { RecordDrawer } from './record-drawer'
import { RecordsList } from './records-list'
import { UsageChart } from './usage-chart'
import { USAGE_KEY, useRecords, useTotals } from './usage-data'

/** The form of a request id. The page sends no other text to the server. */
const REQUEST_ID = /^[\x21-\x7e]{1,300}$/

/** One response may cover only a part of the time, if few records match. The page then continues the search up to this often. */
const MAX_OWN_SEARCHES = 8

export function UsagePage() {
  const filter = useFilters()
  const [params, setParams] = useSearchParams()
  const requestId = params.get('request') ?? undefined
  const archivedBefore = useRecords(filter.filters).data?.pages[0]?.archivedBefore ?? null
  return (
    <Page
      title="Usage"
      description={
        <>
          Every request that was charged, with its usage record. What was not answered is under{' '}
          <Anchor component={Link} href="/failures" underline="always">
            Failed requests
          </Anchor>
          .
        </>
      }
      actions={
        !isAllArchived(filter.filters, archivedBefore) && (
          <Group gap="xs">
            <ExportLink label="Export CSV" query={exportQuery(filter.filters, archivedBefore)} />
            <ExportLink
              label="JSON lines"
              query={{ ...exportQuery(filter.filters, archivedBefore), format: 'jsonl' }}
            />
          </Group>
        )
      }
    >
      <FilterBar {...filter} />
      {archivedBefore !== null && <ArchivedNote before={archivedBefore} />}
      <Totals filters={filter.filters} />
      <UsageChart filters={filter.filters} />
      <Records {...filter} />
      <RecordDrawer requestId={requestId} close={() => setParams(without('request'), { replace: true })} />
    </Page>
  )
}

function ExportLink({ label, query }: { label: string; query: Record<string, string> }) {
  return (
    <Button
      component="a"
      variant="default"
      href={accountPath(`usage/export?${new URLSearchParams(query)}`)}
      download
      leftSection={<IconDownload size={16} />}
    >
      {label}
    </Button>
  )
}

/** The filters of the export, without archived records: a time that includes them is refused. */
function exportQuery(filters: UsageFilters, archivedBefore: string | null) {
  const query = toQuery(filters)
  return archivedBefore === null ? query : { ...query, from: archivedBefore }
}

function isAllArchived(filters: UsageFilters, archivedBefore: string | null): boolean {
  const { to } = toQuery(filters)
  return archivedBefore !== null && to !== undefined && Date.parse(archivedBefore) >= Date.parse(to)
}

function Totals({ filters }: { filters: UsageFilters }) {
  const { data, error, isPlaceholderData, refetch } = useTotals(filters)
  if (error && !data) return <ErrorState error={error} retry={refetch} />
  return (
    <Former isFormer={isPlaceholderData}>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
        <Stat label="Cost" value={data && <Money usd={data.cost} />} />
        <Stat
          label="Requests"
          value={data && formatCount(data.requests)}
          hint={data && `${formatCount(data.errors)} with an error`}
        />
        <Stat label="Input tokens" value={data && formatCompact(data.inputTokens)} />
        <Stat label="Output tokens" value={data && formatCompact(data.outputTokens)} />
      </SimpleGrid>
      {data?.archivedBefore != null && (
        <Text size="sm" c="dimmed">
          These figures begin at <ArchiveEnd before={data.archivedBefore} />: with these filters, earlier requests
          cannot be told apart.
        </Text>
      )}
      {data && !data.isComplete && (
        <Alert color="yellow">
          <Text size="sm">
            There are too many requests to add them all up: these are the newest. Choose a shorter time.
          </Text>
        </Alert>
      )}
    </Former>
  )
}

type RecordsProps = { filters: UsageFilters; isNarrowed: boolean; clear(): void }

function Records({ filters, isNarrowed, clear }: RecordsProps) {
  const [params, setParams] = useSearchParams()
  const { data, error, isPending, isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useRecords(filters)
  const isFirstPageOnly = (data?.pages.length ?? 0) <= 1
  // Reloads only while the first page is shown, so that a reader further down the list is not disturbed.
  const refresh = useCallback(() => {
    if (isFirstPageOnly) void askAgain({ queryKey: USAGE_KEY })
  }, [isFirstPageOnly])
  useLiveEvents(refresh)
  const pages = data?.pages ?? []
  const isSearching = pages.at(-1)?.searchedTo != null && pages.length < MAX_OWN_SEARCHES
  useEffect(() => {
    if (isSearching && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [isSearching, hasNextPage, isFetchingNextPage, error, fetchNextPage])
  const search = <RequestSearch find={(id) => setParams((before) => withParam(before, 'request', id))} />
  if (isPending)
    return (
      <Section title="Requests" isFlush actions={search}>
        {<LoadingRows />}
      </Section>
    )
  if (error && !data) {
    return (
      <Section title="Requests" isFlush actions={search}>
        <ErrorState error={error} retry={refetch} />
      </Section>
    )
  }
  const items = pages.flatMap((page) => page.items)
  const archivedBefore = pages[0]?.archivedBefore ?? null
  const searchedTo = pages.at(-1)?.searchedTo ?? null
  return (
    <Section title="Requests" description={items.length > 0 ? 'Newest first' : undefined} isFlush actions={search}>
      {items.length === 0 && searchedTo === null && (
        <NoRecords isNarrowed={isNarrowed} clear={clear} archivedBefore={archivedBefore} />
      )}
      {items.length > 0 && (
        <Former isFormer={isPlaceholderData}>
          <RecordsList items={items} recordPath={(id) => `/usage?${withParam(params, 'request', id)}`} />
        </Former>
      )}
      {hasNextPage && (
        <Group justify="center" p="md">
          {searchedTo !== null && (
            <Text size="sm" c="dimmed">
              Searched back to <Moment at={searchedTo} />.
            </Text>
          )}
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {searchedTo === null ? 'Show more' : 'Search further'}
          </Button>
        </Group>
      )}
    </Section>
  )
}

type NoRecordsProps = { isNarrowed: boolean; clear(): void; archivedBefore: string | null }

function NoRecords({ isNarrowed, clear, archivedBefore }: NoRecordsProps) {
  if (archivedBefore !== null) return <NothingSince before={archivedBefore} />
  if (isNarrowed) {
    return (
      <EmptyState
        icon={IconListSearch}
        title="No request matches these filters"
        action={
          <Button variant="default" onClick={clear}>
            Clear filters
          </Button>
        }
      >
        Choose a longer time or fewer filters.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={IconListSearch}
      title="No charged requests in this time"
      action={
        <Button component={Link} href="/playground" variant="default">
          Open the playground
        </Button>
      }
    >
      Requests appear here about a second after they end. Try one in the playground, or send one with an API key.
    </EmptyState>
  )
}

function withParam(params: URLSearchParams, name: string, value: string): URLSearchParams {
  const changed = new URLSearchParams(params)
  changed.set(name, value)
  return changed
}

function without(name: string) {
  return (before: URLSearchParams) => {
    const changed = new URLSearchParams(before)
    changed.delete(name)
    return changed
  }
}

function RequestSearch({ find }: { find(requestId: string): void }) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      className="no-print"
      onSubmit={(event) => {
        event.preventDefault()
        const id = text.trim()
        setWrong(!REQUEST_ID.test(id))
        if (REQUEST_ID.test(id)) find(id)
      }}
    >
      <TextInput
        aria-label="Find by request id"
        placeholder="req_…"
        size="sm"
        w={260}
        value={text}
        error={isWrong && 'Paste the x-request-id of one request.'}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setWrong(false)
        }}
        rightSection={
          <ActionIcon type="submit" variant="subtle" color="gray" aria-label="Find the request">
            <IconSearch size={16} />
          </ActionIcon>
        }
      />
    </form>
  )
}
