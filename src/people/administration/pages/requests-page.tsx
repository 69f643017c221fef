/** An account's charged requests for administrators: searchable by day, cost and tag, with possible duplicates marked. */
import { Anchor, Badge, Group, SimpleGrid, Text } from '@mantine/core'
import { IconActivity } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { useAddressFilters } from '@/dashboard/components/address'
import { Paged } from '@/dashboard/components/lists/paged'
import { Row, Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { formatCount } from '@/dashboard/format'
import { filled, usePages } from '@/dashboard/query'
import { type AdminResultOf, administer } from '@/people/client'
import { FilterInput } from './filter-input'

type ChargedRequest = AdminResultOf<'GET /accounts/:accountId/requests'>['items'][number]

const FILTER_NAMES = ['from', 'to', 'cost', 'tag'] as const
type Filters = Record<(typeof FILTER_NAMES)[number], string>

export function AdminRequestsPage() {
  const { accountId = '' } = useParams<{ accountId: string }>()
  const { filters, isFiltered, change, clear } = useAddressFilters(FILTER_NAMES)
  const field = (name: keyof Filters) => ({ value: filters[name], change: (text: string) => change(name, text) })
  return (
    <Page
      title="Requests"
      description={
        <span className="wrap-anywhere">
          What was charged to{' '}
          <Anchor component={Link} href={`/admin/accounts/${accountId}`} underline="always">
            {accountId}
          </Anchor>
          , of the last 30 days unless days are named. Two look alike with the same key, model, input tokens and cost
          within ten minutes.
        </span>
      }
    >
      <Section isFlush>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" p="lg">
          <FilterInput label="From (UTC)" type="date" {...field('from')} />
          <FilterInput label="To (UTC)" type="date" {...field('to')} />
          <FilterInput label="Cost (USD)" placeholder="0.0125" inputMode="decimal" {...field('cost')} />
          <FilterInput label="Tag" placeholder="name=value" {...field('tag')} />
        </SimpleGrid>
        <Requests accountId={accountId} filters={filters} clear={isFiltered ? clear : undefined} />
      </Section>
    </Page>
  )
}

type RequestsProps = { accountId: string; filters: Filters; clear: (() => void) | undefined }

function Requests({ accountId, filters, clear }: RequestsProps) {
  const query = filled(filters)
  const requests = usePages(['admin', 'requests', accountId, query], (page) =>
    administer('GET /accounts/:accountId/requests', { accountId, ...query, ...page }),
  )
  const empty = (
    <EmptyState
      icon={IconActivity}
      title={clear ? 'No request matches these filters' : 'Nothing was charged in this time'}
      clear={clear}
    />
  )
  return (
    <Paged query={requests} empty={empty}>
      {(items) => (
        <Rows isOrdered>
          {items.map((request) => (
            <Entry key={`${request.requestId} ${request.at}`} request={request} />
          ))}
        </Rows>
      )}
    </Paged>
  )
}

function Entry({ request }: { request: ChargedRequest }) {
  const { requestId, at, keyId, keyName, model, status, costUsd, inputTokens, outputTokens, tags, sameAs } = request
  return (
    <Row>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {model} · <Money usd={costUsd} />
        </Text>
        <Text size="xs" c="dimmed" component="div" className="figures">
          <Moment at={at} hasSeconds />
        </Text>
      </Group>
      <Text size="sm" className="wrap-anywhere">
        {keyName ?? keyId} · {status} · {formatCount(inputTokens)} in, {formatCount(outputTokens)} out
      </Text>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {[requestId, ...(tags ?? [])].join(' · ')}
      </Text>
      {sameAs !== null && (
        <Badge color="yellow" variant="light" tt="none" maw="100%">
          Looks like {sameAs}
        </Badge>
      )}
    </Row>
  )
}
