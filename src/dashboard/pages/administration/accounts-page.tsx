/** The page on which administrators find the accounts of everybody, by address, name or id. */
import { Anchor, Button, Group, Select, Table, Text } from '@mantine/core'
import { IconSearch, IconUsers } from '@tabler/icons-react'
import { Link, useSearchParams } from 'wouter'
import { withParam } from '@/dashboard/components/address'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
import { Status } from '@/dashboard/components/status'
import { type FoundAccount, useAccounts } from './admin-data'
import { FilterInput } from './filter-input'
import { ShowMore } from './show-more'
import { ACCOUNT_WORDS } from './words'

type StatusFilter = '' | 'active' | 'suspended'

export function AdminAccountsPage() {
  const [params, setParams] = useSearchParams()
  const text = params.get('text') ?? ''
  const status = readStatus(params.get('status'))
  const change = (name: string, value: string) =>
    setParams((before) => withParam(before, name, value), { replace: true })
  return (
    <Page title="Accounts" description="Customers and what they have. Balances here are a moment behind the ledger.">
      <Section isFlush>
        <Group p="lg" gap="sm" align="flex-end">
          <FilterInput
            label="Search"
            placeholder="E-mail, name or id"
            leftSection={<IconSearch size={16} />}
            style={{ flex: '1 1 220px' }}
            value={text}
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
        <Accounts text={text} status={status} clear={() => setParams({}, { replace: true })} />
      </Section>
    </Page>
  )
}

function readStatus(text: string | null): StatusFilter {
  return text === 'active' || text === 'suspended' ? text : ''
}

type AccountsProps = { text: string; status: StatusFilter; clear(): void }

function Accounts({ text, status, clear }: AccountsProps) {
  const accounts = useAccounts(text, status)
  if (accounts.isPending) return <LoadingRows />
  if (accounts.isError) return <ErrorState error={accounts.error} retry={accounts.refetch} />
  const items = accounts.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <NoAccounts isFiltered={text !== '' || status !== ''} clear={clear} />
  return (
    <>
      <Table verticalSpacing="sm" horizontalSpacing="lg" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Account</Table.Th>
            <Table.Th visibleFrom="sm">Created</Table.Th>
            <Table.Th visibleFrom="xs">Status</Table.Th>
            <Table.Th ta="right">Balance</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((account) => (
            <AccountRow key={account.accountId} account={account} />
          ))}
        </Table.Tbody>
      </Table>
      <ShowMore {...accounts} />
    </>
  )
}

function AccountRow({ account }: { account: FoundAccount }) {
  const { label, tone } = ACCOUNT_WORDS[account.status]
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/admin/accounts/${account.accountId}`} size="sm" className="wrap-anywhere">
          {account.name}
        </Anchor>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {account.email}
        </Text>
        {account.status === 'suspended' && (
          <Text size="xs" hiddenFrom="xs" component="div" mt={4}>
            <Status tone={tone}>{label}</Status>
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Moment at={account.createdAt} />
      </Table.Td>
      <Table.Td visibleFrom="xs">
        <Status tone={tone}>{label}</Status>
      </Table.Td>
      <Table.Td ta="right">
        <Money usd={account.balance} />
      </Table.Td>
    </Table.Tr>
  )
}

function NoAccounts({ isFiltered, clear }: { isFiltered: boolean; clear(): void }) {
  if (!isFiltered) {
    return (
      <EmptyState icon={IconUsers} title="No accounts yet">
        An account is made when somebody signs up.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={IconUsers}
      title="No account matches"
      action={
        <Button variant="default" onClick={clear}>
          Clear search
        </Button>
      }
    >
      Search for a part of the address or the name, or for the whole id.
    </EmptyState>
  )
}
