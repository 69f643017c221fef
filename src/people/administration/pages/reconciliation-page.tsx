/** The reconciliation page: requests whose provider counted far more or fewer tokens than we, or more than we charged. */

import { Anchor, Group, Select, SimpleGrid, Text } from '@mantine/core'
import { IconScaleOutline } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useAddressFilters } from '@/dashboard/components/address'
import { Paged } from '@/dashboard/components/lists/paged'
import { Row, Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status } from '@/dashboard/components/status'
import { formatCount } from '@/dashboard/format'
import { FilterInput } from './filter-input'
import { type Gap, type GapFilters, type GapRecord, useCountGaps } from './margins-data'

const GAP_WORDS: Readonly<Record<NonNullable<Gap>, string>> = {
  input_over: 'More input than counted here',
  input_under: 'Less input than counted here',
  output_over: 'More output than counted here',
  output_under: 'Less output than counted here',
  clamped: 'More than was charged',
}

const BASIS_WORDS: Readonly<Record<GapRecord['basis'], string>> = {
  provider: "the provider's counts",
  unpriced: "the provider's counts, but for a class without a price",
  reclassified: "the provider's counts, writes to its cache at the price of an hour",
  relayed: 'what was relayed, beyond an early count of the provider',
  counted: 'our own count',
  forgiven: 'nothing, as the client disconnected before the first byte',
  clamped: 'no more than was possible',
  expired: 'what was last recorded',
  late: 'the difference to an expired charge',
  unreadable: 'what the ledger had charged',
}

const FILTER_NAMES = ['gap', 'provider', 'accountId'] as const
const GAPS = Object.entries(GAP_WORDS).map(([value, label]) => ({ value, label }))

export function AdminReconciliationPage() {
  const { filters, isFiltered, change, clear } = useAddressFilters(FILTER_NAMES)
  return (
    <Page
      title="Reconciliation"
      description="Requests whose provider counted more than twice our own count or less than half, or more than was charged. Our count is an estimate from the text alone."
    >
      <Section isFlush>
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm" p="lg">
          <Select
            label="Difference"
            placeholder="Any"
            data={GAPS}
            value={filters.gap === '' ? null : filters.gap}
            onChange={(gap) => change('gap', gap ?? '')}
            clearable
          />
          <FilterInput label="Provider" value={filters.provider} change={(text) => change('provider', text)} />
          <FilterInput label="Account id" value={filters.accountId} change={(text) => change('accountId', text)} />
        </SimpleGrid>
        <Records filters={filters} isFiltered={isFiltered} clear={clear} />
      </Section>
    </Page>
  )
}

function Records({ filters, isFiltered, clear }: { filters: GapFilters; isFiltered: boolean; clear(): void }) {
  const empty = (
    <EmptyState
      icon={IconScaleOutline}
      title={isFiltered ? 'No request matches these filters' : 'Nothing to reconcile'}
      clear={isFiltered ? clear : undefined}
    >
      {isFiltered ? 'Providers and ids have to be whole.' : 'Providers and gateway have counted alike so far.'}
    </EmptyState>
  )
  return (
    <Paged query={useCountGaps(filters)} empty={empty}>
      {(items) => (
        <Rows isOrdered>
          {items.map((record) => (
            <Entry key={record.requestId + record.at} record={record} />
          ))}
        </Rows>
      )}
    </Paged>
  )
}

function Entry({ record }: { record: GapRecord }) {
  const { model, provider, upstreamModel, accountId, requestId, gaps, cost, providerCost, basis } = record
  return (
    <Row>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {model}{' '}
          <Text span size="sm" fw={400} c="dimmed">
            {provider}/{upstreamModel}
          </Text>
        </Text>
        <Text size="xs" c="dimmed" component="div">
          <Moment at={record.at} hasSeconds />
        </Text>
      </Group>
      <Group gap={6} my={4}>
        {gaps.map((gap) => (
          <Status key={gap} tone={gap === 'clamped' ? 'bad' : 'waiting'}>
            {gapWords(gap)}
          </Status>
        ))}
      </Group>
      <Text size="sm" component="div" className="figures">
        Input {formatCount(record.providerInput)} by the provider, {formatCount(record.localInput)} here · output{' '}
        {formatCount(record.providerOutput)} by the provider, {formatCount(record.localOutput)} here
      </Text>
      <Text size="sm" component="div">
        Charged <Money usd={cost} />: {BASIS_WORDS[basis]} · the provider asks{' '}
        {providerCost === null ? 'an unknown amount' : <Money usd={providerCost} />}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
        {requestId} ·{' '}
        <Anchor component={Link} href={`/admin/accounts/${accountId}`} size="xs">
          {accountId}
        </Anchor>
      </Text>
    </Row>
  )
}

/** A newer gateway may send reasons unknown to this page. */
function gapWords(gap: string): string {
  return (GAP_WORDS as Readonly<Record<string, string>>)[gap] ?? gap
}
