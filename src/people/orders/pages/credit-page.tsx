/** The credit page: balance, buying credit, and all orders. */
import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconFileInvoice, IconReceipt } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useMay } from '@/dashboard/account'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { useViewer } from '@/dashboard/session'
import { AddCredit } from './add-credit'
import { AutoTopUpSection } from './auto-top-up'
import { MoveCredit } from './move-credit'
import { type Order, useBalance, useCreditOptions, useOrders } from './order-data'
import { methodWords, STATE_WORDS } from './words'

export function CreditPage() {
  const options = useCreditOptions()
  const may = useMay()
  const owned = useViewer().data?.accounts.filter((account) => account.may.includes('credit.move')) ?? []
  return (
    <Page
      title="Credit"
      description="Requests are paid from your balance. Top it up whenever you like."
      actions={
        <Group gap="sm">
          {may('credit.move') && owned.length > 1 && <MoveCredit />}
          <Button
            component={Link}
            href="/credit/statement"
            variant="default"
            leftSection={<IconFileInvoice size={16} />}
          >
            Account statement
          </Button>
        </Group>
      }
    >
      <Balance />
      {may('billing.pay') && (
        <Section title="Add credit">
          <Loaded query={options}>{(data) => <AddCredit options={data} />}</Loaded>
        </Section>
      )}
      {options.data?.deposit?.savesCards && <AutoTopUpSection />}
      <OrderList />
    </Page>
  )
}

/** Shows dashes if the balance is unavailable: ordering still works. */
function Balance() {
  const { data, isError } = useBalance()
  const show = (usd: string | undefined) => {
    if (usd !== undefined) return <Money usd={usd} />
    return isError ? '–' : undefined
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
      <Stat label="Available" value={show(data?.available)} hint="For new requests" />
      <Stat label="Held" value={show(data?.held)} hint="By requests that are running" />
      <Stat label="Spent this month" value={show(data?.spentThisMonth)} hint="Since the first, in UTC" />
    </SimpleGrid>
  )
}

function OrderList() {
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
            { title: 'Method', visibleFrom: 'md', cell: (order) => methodWords(order) },
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
