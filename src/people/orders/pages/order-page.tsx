/** The page of one order: how to pay it, its history, and its result. */
import { Alert, Anchor, List, SimpleGrid, Stack, Text, Timeline } from '@mantine/core'
import { IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Link, useParams } from 'wouter'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { formatMoney } from '@/dashboard/format'
import { OrderActions } from './order-actions'
import { type OrderDetail, ordersChanged, useOrder } from './order-data'
import { Parties } from './parties'
import { usePrintInLight } from './use-print-in-light'
import { BankTransfer, DepositPayment } from './ways-to-pay'
import { EVENT_WORDS, methodWords, mismatchWords, STATE_WORDS } from './words'

type Event = OrderDetail['events'][number]

export function OrderPage() {
  const { orderId = '' } = useParams<{ orderId: string }>()
  const order = useOrder(orderId)
  const state = order.data?.state
  usePrintInLight()
  useEffect(() => {
    // When the order's state changes, the balance and the list of orders change too.
    if (state !== undefined && state !== 'pending') void ordersChanged()
  }, [state])
  return (
    <Page
      title={order.data ? `Order ${order.data.reference}` : 'Order'}
      description={
        <Anchor component={Link} href="/credit" size="sm" className="no-print">
          All orders
        </Anchor>
      }
      actions={order.data && <OrderActions order={order.data} />}
    >
      <Loaded query={order}>{(data) => <Details order={data} />}</Loaded>
    </Page>
  )
}

function Details({ order }: { order: OrderDetail }) {
  return (
    <Stack gap="lg">
      <div className="print-only">
        <Parties order={order} />
      </div>
      <Summary order={order} />
      <ReviewNotice payments={order.payments} />
      {order.state === 'pending' &&
        (order.method === 'deposit' ? <DepositPayment order={order} /> : <BankTransfer order={order} />)}
      {order.receipt && <Paid order={order} />}
      {order.state === 'expired' && <Unpaid order={order} />}
      <div className="no-print">
        <OrderTimeline order={order} />
      </div>
    </Stack>
  )
}

function Summary({ order }: { order: OrderDetail }) {
  const { label, tone } = STATE_WORDS[order.state]
  return (
    <Section>
      <div role="status" aria-label="State of the order">
        <Status tone={tone}>{label}</Status>
      </div>
      <SimpleGrid cols={{ base: 2, sm: 4 }} mt="md" spacing="md">
        <Fact label="Amount">
          <Money usd={order.amountUsd} />
        </Fact>
        <Fact label="Method">{methodWords(order)}</Fact>
        <Fact label="Ordered">
          <Moment at={order.createdAt} />
        </Fact>
        {order.paidAt === null ? (
          <Fact label={order.state === 'pending' ? 'Valid until' : 'Was valid until'}>
            <Moment at={order.expiresAt} />
          </Fact>
        ) : (
          <Fact label="Paid">
            <Moment at={order.paidAt} />
          </Fact>
        )}
      </SimpleGrid>
    </Section>
  )
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={550} component="div">
        {children}
      </Text>
    </div>
  )
}

/** Texts for orders whose credit was returned. */
const ENDINGS: Partial<Record<OrderDetail['state'], { color: string; title: string }>> = {
  refunded: { color: 'blue', title: 'This payment was refunded' },
  charged_back: { color: 'red', title: 'This payment was charged back' },
}

function Paid({ order }: { order: OrderDetail }) {
  const { color, title } = ENDINGS[order.state] ?? { color: 'green', title: 'The credit is on your account' }
  return (
    <Alert color={color} icon={<IconCircleCheck />} title={title}>
      <Text size="sm" component="div">
        <Money usd={order.paidUsd} /> credited
        {order.refundedUsd !== '0' && (
          <>
            , <Money usd={order.refundedUsd} /> taken back
          </>
        )}
        {order.chargedBackUsd !== '0' && (
          <>
            , <Money usd={order.chargedBackUsd} /> charged back by your bank
          </>
        )}
        .
        {order.payments.map(
          ({ paymentId, amount, taxUsd, state }) =>
            state === 'credited' &&
            taxUsd !== '0' && (
              <div key={paymentId}>
                You paid {formatMoney(amount)}, of which {formatMoney(taxUsd)} is tax.
              </div>
            ),
        )}
      </Text>
    </Alert>
  )
}

/** The reason why the order brought no credit, and what to do. */
function Unpaid({ order: { events } }: { order: OrderDetail }) {
  const hasFailed = events.some(({ kind }) => kind === 'failed')
  return (
    <Alert
      color={hasFailed ? 'red' : 'gray'}
      icon={<IconInfoCircle />}
      title={hasFailed ? 'The payment failed' : 'This order has expired'}
    >
      {hasFailed
        ? 'Your bank refused it, and nothing was credited. Make a new order, and pay with another card or in another way.'
        : 'No payment has arrived for it. If you have paid, the credit comes as soon as the payment is known. Otherwise make a new order.'}
    </Alert>
  )
}

type Payment = OrderDetail['payments'][number]

function ReviewNotice({ payments }: { payments: OrderDetail['payments'] }) {
  const waiting = payments.filter(({ state }) => state === 'unmatched')
  if (waiting.length === 0) return null
  return (
    <Alert color="blue" icon={<IconInfoCircle />} title="We have received a payment and are looking at it">
      <List size="sm" spacing={4}>
        {waiting.map((payment) => (
          <List.Item key={payment.paymentId}>
            {amountOf(payment)}: it was not credited automatically because {mismatchWords(payment.mismatch)}.
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function amountOf({ amount, currency }: Payment): string {
  const plain = formatMoney(amount)
  return currency === 'USD' ? plain : `${plain.replace('$', '')} ${currency}`
}

function OrderTimeline({ order }: { order: OrderDetail }) {
  return (
    <Section title="History">
      <Timeline active={order.events.length} bulletSize={14} lineWidth={2}>
        {order.events.map((event) => (
          <Timeline.Item key={`${event.at} ${event.kind}`} title={<Title event={event} />}>
            {event.by === 'you' && event.note !== null && event.note !== '' && (
              <Text size="sm" className="wrap-anywhere">
                “{event.note}”
              </Text>
            )}
            <Text size="sm" c="dimmed">
              <Moment at={event.at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  )
}

function Title({ event }: { event: Event }) {
  return (
    <Text size="sm" fw={550} component="span">
      {EVENT_WORDS[event.kind]}
      {event.amountUsd !== null && event.kind !== 'payment_unmatched' && (
        <>
          {' '}
          (<Money usd={event.amountUsd} />)
        </>
      )}
    </Text>
  )
}
