/** The page of all accounts' orders: found, confirmed and refunded, and the payments that fitted none of them. */
import { Anchor, Box, Group, Select, SimpleGrid, Table, Text } from '@mantine/core'
import { IconReceipt } from '@tabler/icons-react'
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
import { type FoundOrder, type OrderFilters, useOrders } from './admin-data'
import { FilterInput } from './filter-input'
import { OrderDrawer } from './order-drawer'
import { OpenReversals } from './reversals/open-reversals'
import { ShowMore } from './show-more'
import { UnmatchedPayments } from './unmatched-payments'
import { METHOD_WORDS, ORDER_WORDS } from './words'

const NO_FILTERS: OrderFilters = { reference: '', email: '', amount: '', state: '', claimed: '' }
const FILTER_NAMES = ['reference', 'email', 'amount', 'state', 'claimed'] as const

export function AdminOrdersPage() {
  const [params, setParams] = useSearchParams()
  const filters = readFilters(params)
  const close = () => setParams((before) => withParam(before, 'order', ''), { replace: true })
  return (
    <Page title="Orders" description="Credit that customers have ordered, and the payments that arrived for it.">
      <UnmatchedPayments />
      <OpenReversals />
      <Section title="All orders" isFlush>
        <FilterBar
          filters={filters}
          change={(name, value) => setParams((before) => withParam(before, name, value), { replace: true })}
        />
        <Orders
          filters={filters}
          clear={() => setParams({})}
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
          ...Object.entries(ORDER_WORDS).map(([value, { label }]) => ({ value, label })),
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

type OrdersProps = { filters: OrderFilters; clear(): void; pathOf(orderId: string): string }

function Orders({ filters, clear, pathOf }: OrdersProps) {
  const orders = useOrders(filters)
  if (orders.isPending) return <LoadingRows />
  if (orders.isError) return <ErrorState error={orders.error} retry={orders.refetch} />
  const items = orders.data.pages.flatMap((page) => page.items)
  if (items.length === 0)
    return <NoOrders isFiltered={FILTER_NAMES.some((name) => filters[name] !== '')} clear={clear} />
  return (
    <>
      <Table verticalSpacing="sm" horizontalSpacing="lg" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Order</Table.Th>
            <Table.Th visibleFrom="lg">Account</Table.Th>
            <Table.Th visibleFrom="lg">Created</Table.Th>
            <Table.Th visibleFrom="lg">Method</Table.Th>
            <Table.Th visibleFrom="lg">State</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((order) => (
            <OrderRow key={order.orderId} order={order} path={pathOf(order.orderId)} />
          ))}
        </Table.Tbody>
      </Table>
      <ShowMore {...orders} />
    </>
  )
}

function OrderRow({ order, path }: { order: FoundOrder; path: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={path} size="sm" className="figures" style={NO_WRAP}>
          {order.reference}
        </Anchor>
        <Box hiddenFrom="lg">
          <Text size="xs" c="dimmed" className="wrap-anywhere">
            {order.account.email}, <Moment at={order.createdAt} />
          </Text>
          <OrderStatus order={order} />
        </Box>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text size="sm">{order.account.name}</Text>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {order.account.email}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="lg" style={NO_WRAP}>
        <Moment at={order.createdAt} />
      </Table.Td>
      <Table.Td visibleFrom="lg" style={NO_WRAP}>
        {METHOD_WORDS[order.method]}
      </Table.Td>
      <Table.Td visibleFrom="lg" miw={STATUS_WIDTH}>
        <OrderStatus order={order} />
      </Table.Td>
      <Table.Td ta="right">
        <Money usd={order.amount} />
      </Table.Td>
    </Table.Tr>
  )
}

const NO_WRAP = { whiteSpace: 'nowrap' } as const
const STATUS_WIDTH = 120

function OrderStatus({ order }: { order: FoundOrder }) {
  const { label, tone } = ORDER_WORDS[order.state]
  return (
    <Group gap={6} my={4}>
      <Status tone={tone}>{order.state === 'pending' ? 'Waiting' : label}</Status>
      {order.claimedAt !== null && order.state === 'pending' && <Status tone="info">Says paid</Status>}
    </Group>
  )
}

function NoOrders({ isFiltered, clear }: { isFiltered: boolean; clear(): void }) {
  if (!isFiltered) {
    return (
      <EmptyState icon={IconReceipt} title="No orders yet">
        Orders appear here as soon as a customer buys credit.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={IconReceipt} title="No order matches these filters" clear={clear}>
      A reference is found by its beginning, in any writing.
    </EmptyState>
  )
}

function readFilters(params: URLSearchParams): OrderFilters {
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, params.get(name) ?? NO_FILTERS[name]])) as OrderFilters
}
