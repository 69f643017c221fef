/** The page of all accounts' orders: search, confirm and refund, and payments that matched no order. */
import { Anchor, Box, Group, Select, SimpleGrid, Text } from '@mantine/core'
import { IconReceipt } from '@tabler/icons-react'
import { Link, useSearchParams } from 'wouter'
import { useAddressFilters, withParam } from '@/dashboard/components/address'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status } from '@/dashboard/components/status'
import { methodWords, STATE_WORDS } from '@/people/orders/pages/words'
import { type FoundOrder, type OrderFilters, useOrders } from './admin-data'
import { FilterInput } from './filter-input'
import { OrderDrawer } from './order-drawer'
import { OpenReversals } from './reversals'
import { UnmatchedPayments } from './unmatched-payments'

const FILTER_NAMES = ['reference', 'email', 'amount', 'state', 'claimed'] as const

export function AdminOrdersPage() {
  const [params, setParams] = useSearchParams()
  const { filters, isFiltered, change } = useAddressFilters(FILTER_NAMES)
  const close = () => setParams((before) => withParam(before, 'order', ''), { replace: true })
  return (
    <Page title="Orders" description="Credit that customers have ordered, and the payments that arrived for it.">
      <UnmatchedPayments />
      <OpenReversals />
      <Section title="All orders" isFlush>
        <FilterBar filters={filters} change={change} />
        <Orders
          filters={filters}
          clear={isFiltered ? () => setParams({}) : undefined}
          pathOf={(id) => `/admin/orders?${withParam(params, 'order', id)}`}
        />
      </Section>
      <OrderDrawer orderId={params.get('order') ?? undefined} close={close} />
    </Page>
  )
}

type FilterBarProps = { filters: OrderFilters; change(name: keyof OrderFilters, value: string): void }

function FilterBar({ filters, change }: FilterBarProps) {
  const typed = (name: keyof OrderFilters) => ({
    value: filters[name],
    change: (text: string) => change(name, text),
  })
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm" px="lg" pb="md">
      <FilterInput label="Reference" placeholder="SVC-7K3M-9QXP" {...typed('reference')} />
      <FilterInput label="E-mail contains" placeholder="name@example.com" {...typed('email')} />
      <FilterInput label="Amount" placeholder="25.00" inputMode="decimal" {...typed('amount')} />
      <Select
        label="State"
        data={[
          { value: '', label: 'Any' },
          ...Object.entries(STATE_WORDS).map(([value, { label }]) => ({ value, label })),
        ]}
        value={filters.state}
        onChange={(value) => change('state', value ?? '')}
        allowDeselect={false}
      />
      <Select
        label="Customer says paid"
        data={[
          { value: '', label: 'Either' },
          { value: 'yes', label: 'Yes' },
          { value: 'no', label: 'No' },
        ]}
        value={filters.claimed}
        onChange={(value) => change('claimed', value ?? '')}
        allowDeselect={false}
      />
    </SimpleGrid>
  )
}

type OrdersProps = { filters: OrderFilters; clear: (() => void) | undefined; pathOf(orderId: string): string }

function Orders({ filters, clear, pathOf }: OrdersProps) {
  const empty = (
    <EmptyState icon={IconReceipt} title={clear ? 'No order matches these filters' : 'No orders yet'} clear={clear}>
      {clear
        ? 'A reference is found by its beginning, in any writing.'
        : 'Orders appear here as soon as a customer buys credit.'}
    </EmptyState>
  )
  return (
    <Paged query={useOrders(filters)} empty={empty}>
      {(items) => (
        <DataTable
          items={items}
          keyOf={({ orderId }) => orderId}
          highlightOnHover
          columns={[
            { title: 'Order', cell: (order) => <Reference order={order} path={pathOf(order.orderId)} /> },
            { title: 'Account', visibleFrom: 'lg', cell: ({ account }) => <Account account={account} /> },
            { title: 'Created', ...WIDE, cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: 'Method', ...WIDE, cell: (order) => methodWords(order) },
            { title: 'State', visibleFrom: 'lg', miw: 120, cell: (order) => <OrderStatus order={order} /> },
            { title: 'Amount', ta: 'right', cell: ({ amount }) => <Money usd={amount} /> },
          ]}
        />
      )}
    </Paged>
  )
}

const NO_WRAP = { whiteSpace: 'nowrap' } as const
const WIDE = { visibleFrom: 'lg', style: NO_WRAP } as const

function Reference({ order, path }: { order: FoundOrder; path: string }) {
  return (
    <>
      <Anchor component={Link} href={path} size="sm" className="figures" style={NO_WRAP}>
        {order.reference}
      </Anchor>
      <Box hiddenFrom="lg">
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {order.account.email}, <Moment at={order.createdAt} />
        </Text>
        <OrderStatus order={order} />
      </Box>
    </>
  )
}

function Account({ account }: Pick<FoundOrder, 'account'>) {
  return (
    <>
      <Text size="sm">{account.name}</Text>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {account.email}
      </Text>
    </>
  )
}

function OrderStatus({ order }: { order: FoundOrder }) {
  const { label, tone } = STATE_WORDS[order.state]
  return (
    <Group gap={6} my={4}>
      <Status tone={tone}>{order.state === 'pending' ? 'Waiting' : label}</Status>
      {order.claimedAt !== null && order.state === 'pending' && <Status tone="info">Says paid</Status>}
    </Group>
  )
}
