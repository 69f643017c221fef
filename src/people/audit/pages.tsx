/** The account's audit log, for its owners and admins: each change with author, time and address. */
import { Group, SimpleGrid, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useAddressFilters } from '@/dashboard/components/address'
import { Paged } from '@/dashboard/components/lists/paged'
import { Row, Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { filled, usePages } from '@/dashboard/query'
import { FilterInput } from '@/people/administration/pages/filter-input'
import { perform, type ResultOf } from '@/people/client'

type AuditEntry = ResultOf<'GET /audit'>['items'][number]

const FILTER_NAMES = ['action', 'subject', 'from', 'to'] as const
type Filters = Record<(typeof FILTER_NAMES)[number], string>

export function AuditPage() {
  const { filters, isFiltered, change, clear } = useAddressFilters(FILTER_NAMES)
  const field = (name: keyof Filters) => ({ value: filters[name], change: (text: string) => change(name, text) })
  return (
    <Page
      title="Audit log"
      description="What was changed in this account: keys, budgets, members, credit and rules. Entries can't be changed or removed."
    >
      <Section isFlush>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" p="lg">
          <FilterInput label="Action" placeholder="key" {...field('action')} />
          <FilterInput label="Subject" placeholder="An id" {...field('subject')} />
          <FilterInput label="From (UTC)" type="date" {...field('from')} />
          <FilterInput label="To (UTC)" type="date" {...field('to')} />
        </SimpleGrid>
        <Entries filters={filters} clear={isFiltered ? clear : undefined} />
      </Section>
    </Page>
  )
}

function Entries({ filters, clear }: { filters: Filters; clear: (() => void) | undefined }) {
  const query = filled(filters)
  const entries = usePages(['audit', query], (page) => perform('GET /audit', { ...query, ...page }))
  const empty = (
    <EmptyState
      icon={IconHistory}
      title={clear ? 'No entry matches these filters' : 'Nothing was changed yet'}
      clear={clear}
    >
      {clear && 'Ids have to be whole; of an action its first word is enough, such as "key".'}
    </EmptyState>
  )
  return (
    <Paged query={entries} empty={empty}>
      {(items) => (
        <Rows isOrdered>
          {items.map((entry) => (
            <Entry key={entry.seq} entry={entry} />
          ))}
        </Rows>
      )}
    </Paged>
  )
}

function Entry({ entry: { at, seq, actor, action, subject, details, ip, requestId } }: { entry: AuditEntry }) {
  const facts = Object.entries(details).flatMap(([name, value]) => (value === null ? [] : `${name}: ${String(value)}`))
  return (
    <Row>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {action}{' '}
          <Text span size="sm" fw={400} c="dimmed">
            {subject}
          </Text>
        </Text>
        <Text size="xs" c="dimmed" component="div" className="figures">
          <Moment at={at} hasSeconds /> · {seq}
        </Text>
      </Group>
      <Text size="sm" className="wrap-anywhere" component="div">
        {actor?.email ?? 'The service, or those who run it'}
        {ip !== null && (
          <Text span size="xs" c="dimmed">
            {' '}
            from {ip}
          </Text>
        )}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
        {[...facts, ...(requestId === null ? [] : [`request: ${requestId}`])].join(' · ')}
      </Text>
    </Row>
  )
}
