/** The account's orders of credit with their receipts, newest first. */
import { Anchor, Button, Center, Stack, Table, Text } from '@mantine/core'
import { IconReceipt } from '@tabler/icons-react'
import { Link } from 'wouter'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { LoadingRows } from '@/dashboard/components/states/loading-rows'
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
  const orders = useOrders()
  if (orders.isPending) return <LoadingRows rows={3} />
  if (orders.isError) return <ErrorState error={orders.error} retry={orders.refetch} />
  const items = orders.data.pages.flatMap((page) => page.items)
  if (items.length === 0) {
    return (
      <EmptyState icon={IconReceipt} title="No orders yet">
        Choose an amount above. Your orders and their receipts will be listed here.
      </EmptyState>
    )
  }
  return (
    <>
      <Table verticalSpacing="sm" horizontalSpacing="lg">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Order</Table.Th>
            <Table.Th visibleFrom="md">Created</Table.Th>
            <Table.Th visibleFrom="md">Method</Table.Th>
            <Table.Th visibleFrom="md">State</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((order) => (
            <OrderRow key={order.orderId} order={order} />
          ))}
        </Table.Tbody>
      </Table>
      {orders.hasNextPage && (
        <Center p="md">
          <Button variant="default" loading={orders.isFetchingNextPage} onClick={() => void orders.fetchNextPage()}>
            Show more
          </Button>
        </Center>
      )}
    </>
  )
}

function OrderRow({ order }: { order: Order }) {
  const { label, tone } = STATE_WORDS[order.state]
  const state = <Status tone={tone}>{label}</Status>
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/credit/orders/${order.orderId}`} size="sm" style={{ whiteSpace: 'nowrap' }}>
          {order.reference}
        </Anchor>
        <Stack gap={4} mt={4} align="flex-start" hiddenFrom="md">
          {state}
          <Text size="sm" c="dimmed">
            <Moment at={order.createdAt} />
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Moment at={order.createdAt} />
      </Table.Td>
      <Table.Td visibleFrom="md">{METHOD_WORDS[order.method]}</Table.Td>
      <Table.Td visibleFrom="md">{state}</Table.Td>
      <Table.Td ta="right">
        <Money usd={order.amountUsd} />
      </Table.Td>
    </Table.Tr>
  )
}
