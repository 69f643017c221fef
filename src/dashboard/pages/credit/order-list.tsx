/** The account's orders of credit with their receipts, newest first. */
import { Anchor, Stack, Text } from '@mantine/core'
import { IconReceipt } from '@tabler/icons-react'
import { Link } from 'wouter'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status } from '@/dashboard/components/status'
import { type Order, useOrders } from './order-data'
import { METHOD_WORDS, STATE_WORDS } from './words'

export function OrderList() {
  return (
    <Section title="Orders and receipts" isFlush>
      <Orders />
    </Section>
  )
}

function Orders() {
  const empty = (
    <EmptyState icon={IconReceipt} title="No orders yet">
      Choose an amount above. Your orders and their receipts will be listed here.
    </EmptyState>
  )
  return (
    <Paged query={useOrders()} empty={empty}>
      {(items) => (
        <DataTable
          items={items}
          keyOf={({ orderId }) => orderId}
          columns={[
            { title: 'Order', cell: (order) => <Reference order={order} /> },
            { title: 'Created', visibleFrom: 'md', cell: ({ createdAt }) => <Moment at={createdAt} /> },
            { title: 'Method', visibleFrom: 'md', cell: ({ method }) => METHOD_WORDS[method] },
            { title: 'State', visibleFrom: 'md', cell: (order) => <State order={order} /> },
            { title: 'Amount', ta: 'right', cell: ({ amountUsd }) => <Money usd={amountUsd} /> },
          ]}
        />
      )}
    </Paged>
  )
}

function State({ order }: { order: Order }) {
  const { label, tone } = STATE_WORDS[order.state]
  return <Status tone={tone}>{label}</Status>
}

function Reference({ order }: { order: Order }) {
  return (
    <>
      <Anchor component={Link} href={`/credit/orders/${order.orderId}`} size="sm" style={{ whiteSpace: 'nowrap' }}>
        {order.reference}
      </Anchor>
      <Stack gap={4} mt={4} align="flex-start" hiddenFrom="md">
        <State order={order} />
        <Text size="sm" c="dimmed">
          <Moment at={order.createdAt} />
        </Text>
      </Stack>
    </>
  )
}
