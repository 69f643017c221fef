/** The audit log's page for administrators: changes with author and time, and a check for tampering. */
import { Alert, Button, Group, SimpleGrid, Text } from '@mantine/core'
import { IconHistory, IconShieldCheck, IconShieldX } from '@tabler/icons-react'
import { useAddressFilters } from '@/dashboard/components/address'
import { Paged } from '@/dashboard/components/lists/paged'
import { Row, Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { formatCount } from '@/dashboard/format'
import { type AuditEntry, type AuditFilters, useAudit, useAuditChain } from './admin-data'
import { FilterInput } from './filter-input'

const FILTER_NAMES = ['actor', 'action', 'subject', 'from', 'to'] as const

export function AdminAuditPage() {
  const { filters, isFiltered, change, clear } = useAddressFilters(FILTER_NAMES)
  const chain = useAuditChain()
  return (
    <Page
      title="Audit log"
      description="Everything that people changed about money, keys, people and limits. Entries can't be changed or removed."
      actions={
        <Button variant="default" loading={chain.isFetching} onClick={() => void chain.refetch()}>
          Verify
        </Button>
      }
    >
      <Chain chain={chain} />
      <Section isFlush>
        <FilterBar filters={filters} change={change} />
        <Entries filters={filters} isFiltered={isFiltered} clear={clear} />
      </Section>
    </Page>
  )
}

function Chain({ chain }: { chain: ReturnType<typeof useAuditChain> }) {
  if (chain.isError) return <ErrorState error={chain.error} retry={chain.refetch} />
  if (!chain.data) return null
  if (chain.data.kind === 'intact') {
    return (
      <Alert color="green" icon={<IconShieldCheck size={18} />} title="The log is intact" role="status">
        <Text size="sm" className="wrap-anywhere">
          All {formatCount(chain.data.entries)} entries follow from each other. Keep the newest hash elsewhere to notice
          if entries are ever cut off at the end: {chain.data.headHash}
        </Text>
      </Alert>
    )
  }
  return (
    <Alert color="red" icon={<IconShieldX size={18} />} title="Somebody has tampered with the log" role="alert">
      <Text size="sm">
        Entry {formatCount(chain.data.seq)} {FAULT_WORDS[chain.data.fault]}.
      </Text>
    </Alert>
  )
}

const FAULT_WORDS = {
  missing: 'is missing',
  altered: 'was altered after it had been written',
  unlinked: 'does not follow from the one before it',
} as const

type FilterBarProps = { filters: AuditFilters; change(name: keyof AuditFilters, value: string): void }

function FilterBar({ filters, change }: FilterBarProps) {
  const field = (name: keyof AuditFilters) => ({
    value: filters[name],
    change: (text: string) => change(name, text),
  })
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm" p="lg">
      <FilterInput label="Person" placeholder="name@example.com" {...field('actor')} />
      <FilterInput label="Action" placeholder="approval" {...field('action')} />
      <FilterInput label="Subject" placeholder="An id" {...field('subject')} />
      <FilterInput label="From (UTC)" type="date" {...field('from')} />
      <FilterInput label="To (UTC)" type="date" {...field('to')} />
    </SimpleGrid>
  )
}

function Entries({ filters, isFiltered, clear }: { filters: AuditFilters; isFiltered: boolean; clear(): void }) {
  const empty = (
    <EmptyState
      icon={IconHistory}
      title={isFiltered ? 'No entry matches these filters' : 'Nothing has happened yet'}
      clear={isFiltered ? clear : undefined}
    >
      {isFiltered ? 'Addresses and ids have to be whole; of an action its first word is enough.' : undefined}
    </EmptyState>
  )
  return (
    <Paged query={useAudit(filters)} empty={empty}>
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

function Entry({ entry }: { entry: AuditEntry }) {
  return (
    <Row>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} className="wrap-anywhere">
          {entry.action}{' '}
          <Text span size="sm" fw={400} c="dimmed">
            {entry.subject}
          </Text>
        </Text>
        <Text size="xs" c="dimmed" component="div" className="figures">
          <Moment at={entry.at} hasSeconds /> · {entry.seq}
        </Text>
      </Group>
      <Text size="sm" className="wrap-anywhere" component="div">
        {entry.actor}
        {entry.ip !== null && (
          <Text span size="xs" c="dimmed">
            {' '}
            from {entry.ip}
          </Text>
        )}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
        {entry.details.flatMap(({ name, value }) => (value === null ? [] : `${name}: ${String(value)}`)).join(' · ')}
      </Text>
    </Row>
  )
}
