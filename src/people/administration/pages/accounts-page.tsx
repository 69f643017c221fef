/** The page on which administrators search all accounts by address, name or id. */
import { Anchor, Group, Select, Text } from '@mantine/core'
import { IconSearch, IconUsers } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useAddressFilters } from '@/dashboard/components/address'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status } from '@/dashboard/components/status'
import { type FoundAccount, useAccounts } from './admin-data'
import { FilterInput } from './filter-input'
import { ACCOUNT_WORDS } from './words'

type StatusFilter = '' | 'active' | 'suspended'

export function AdminAccountsPage() {
  const { filters, change, clear } = useAddressFilters(['text', 'status'])
  const status = readStatus(filters.status)
  return (
    <Page title="Accounts" description="Customers and what they have. Balances here are a moment behind the ledger.">
      <Section isFlush>
        <Group p="lg" gap="sm" align="flex-end">
          <FilterInput
            label="Search"
            placeholder="E-mail, name or id"
            leftSection={<IconSearch size={16} />}
            style={{ flex: '1 1 220px' }}
            value={filters.text}
            change={(typed) => change('text', typed)}
          />
          <Select
            label="Status"
            w={160}
            data={[
              { value: '', label: 'Any' },
              { value: 'active', label: 'Active' },
              { value: 'suspended', label: 'Suspended' },
            ]}
            value={status}
            onChange={(value) => change('status', value ?? '')}
            allowDeselect={false}
          />
        </Group>
        <Accounts text={filters.text} status={status} clear={clear} />
      </Section>
    </Page>
  )
}

function readStatus(text: string): StatusFilter {
  return text === 'active' || text === 'suspended' ? text : ''
}

type AccountsProps = { text: string; status: StatusFilter; clear(): void }

function Accounts({ text, status, clear }: AccountsProps) {
  return (
    <Paged query={useAccounts(text, status)} empty={<NoAccounts clear={text || status ? clear : undefined} />}>
      {(items) => (
        <DataTable
          items={items}
          keyOf={({ accountId }) => accountId}
          highlightOnHover
          columns={[
            { title: 'Account', cell: (account) => <Name account={account} /> },
            { title: 'Created', visibleFrom: 'sm', cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: 'Status', visibleFrom: 'xs', cell: (account) => <AccountStatus account={account} /> },
            { title: 'Balance', ta: 'right', cell: ({ balance }) => <Money usd={balance} /> },
          ]}
        />
      )}
    </Paged>
  )
}

function Name({ account }: { account: FoundAccount }) {
  return (
    <>
      <Anchor component={Link} href={`/admin/accounts/${account.accountId}`} size="sm" className="wrap-anywhere">
        {account.name}
      </Anchor>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {account.email}
      </Text>
      {account.status === 'suspended' && (
        <Text size="xs" hiddenFrom="xs" component="div" mt={4}>
          <AccountStatus account={account} />
        </Text>
      )}
    </>
  )
}

function AccountStatus({ account }: { account: FoundAccount }) {
  const { label, tone } = ACCOUNT_WORDS[account.status]
  return <Status tone={tone}>{label}</Status>
}

function NoAccounts({ clear }: { clear: (() => void) | undefined }) {
  return (
    <EmptyState icon={IconUsers} title={clear ? 'No account matches' : 'No accounts yet'} clear={clear}>
      {clear
        ? 'Search for a part of the address or the name, or for the whole id.'
        : 'An account is created when someone signs up.'}
    </EmptyState>
  )
}
