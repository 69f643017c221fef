/** One order beside the administrators' list: its data, buttons, events and payments. */
import { Anchor, Box, Button, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { Link } from 'wouter'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { administer } from '@/people/client'
import { methodWords, STATE_WORDS } from '@/people/orders/pages/words'
import { type OrderDetails, type Payment, useOrder } from './admin-data'
import { Facts } from './facts'
import { openMoneyDialog } from './money-dialog'
import { ReversalFacts } from './reversals'
import { eventWords, formatAmount, mismatchWords } from './words'

type OrderDrawerProps = {
  orderId: string | undefined
  close(): void
}

export function OrderDrawer({ orderId, close }: OrderDrawerProps) {
  // Without this, Escape would also close the drawer when a dialog is in front of it.
  useWindowEvent('keydown', ({ key, target }) => {
    const isInFront = target instanceof Element && target.closest('.mantine-Modal-content') !== null
    if (key === 'Escape' && orderId !== undefined && !isInFront) close()
  })
  return (
    <Drawer
      opened={orderId !== undefined}
      onClose={close}
      closeOnEscape={false}
      title="Order"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close the order' }}
    >
      {orderId !== undefined && <Content orderId={orderId} />}
    </Drawer>
  )
}

function Content({ orderId }: { orderId: string }) {
  const order = useOrder(orderId)
  return <Loaded query={order}>{(data) => <Details order={data} />}</Loaded>
}

function Details({ order }: { order: OrderDetails }) {
  const { label, tone } = STATE_WORDS[order.state]
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end">
        <Box>
          <Text size="sm" c="dimmed" className="figures">
            {order.reference}
          </Text>
          <Text fz={26} fw={650} component="div">
            <Money usd={order.amount} />
          </Text>
        </Box>
        <Status tone={tone}>{label}</Status>
      </Group>
      <Actions order={order} />
      <Facts
        facts={[
          [
            'Account',
            <Anchor component={Link} href={`/admin/accounts/${order.accountId}`} size="sm" key="account">
              {order.account.name} ({order.account.email})
            </Anchor>,
          ],
          ['Method', methodWords(order)],
          ['Created', <Moment at={order.createdAt} key="created" />],
          ['Expires', <Moment at={order.expiresAt} key="expires" />],
          ['Paid', <Money usd={order.paid} key="paid" />],
          ['Refunded', <Money usd={order.refunded} key="refunded" />],
          ['Charged back', <Money usd={order.chargedBack} key="charged-back" />],
          ['Customer says', order.claimedAt === null ? 'Nothing yet' : `Paid. ${order.claimNote ?? ''}`],
          ['Id', order.orderId],
        ]}
      />
      <History order={order} />
      {order.payments.length > 0 && <Payments payments={order.payments} />}
      {order.reversals.length > 0 && <Reversals reversals={order.reversals} />}
    </Stack>
  )
}

function Actions({ order }: { order: OrderDetails }) {
  const isRefundable = order.state === 'paid' || order.state === 'partly_refunded' || order.state === 'charged_back'
  return (
    <Group gap="sm">
      {!isRefundable && order.state !== 'refunded' && (
        <Button onClick={() => confirmOrder(order)}>Confirm payment</Button>
      )}
      {isRefundable && (
        <Button variant="default" onClick={() => refundOrder(order)}>
          Refund
        </Button>
      )}
    </Group>
  )
}

function confirmOrder(order: OrderDetails): void {
  const isOpen = order.state === 'pending'
  openMoneyDialog({
    title: 'Confirm payment',
    body: isOpen
      ? `${order.account.name} is credited with what arrived for ${order.reference}.`
      : `The order is not open any more: the payment is kept among the unmatched ones, where it can be credited.`,
    action: isOpen ? 'Confirm payment' : 'Record payment',
    amount: { label: 'Amount that arrived', initial: order.amount },
    done: 'The payment was confirmed.',
    run: ({ amount, reason, key }) =>
      administer('POST /orders/:orderId/confirm', { orderId: order.orderId, amount, reason, key }),
  })
}

function refundOrder(order: OrderDetails): void {
  openMoneyDialog({
    title: 'Refund order',
    body: `The amount is taken from the credit of ${order.account.name}. Sending the money back is done at the bank.`,
    action: 'Refund',
    amount: { label: 'Amount', description: 'A part of what was paid, or all that is left.', initial: '' },
    asksNegative: true,
    isDestructive: true,
    done: 'The order was refunded.',
    run: (values) => administer('POST /orders/:orderId/refund', { orderId: order.orderId, ...values }),
  })
}

function History({ order }: { order: OrderDetails }) {
  return (
    <Box>
      <Title order={3} size="h5" mb="xs">
        History
      </Title>
      <Rows isOrdered gap="xs">
        {order.events.map((event) => (
          <Box component="li" key={event.eventId}>
            <Text size="sm" fw={500}>
              {eventWords(event.kind)}
              {event.amount !== null && (
                <>
                  {' '}
                  (<Money usd={event.amount} />)
                </>
              )}
            </Text>
            <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
              <Moment at={event.createdAt} /> by {event.actor}
              {event.note !== null && `: ${event.note}`}
            </Text>
          </Box>
        ))}
      </Rows>
    </Box>
  )
}

const PAYMENT_WORDS: Record<Payment['state'], string> = {
  credited: 'Credited',
  unmatched: 'Waits for a decision',
  dismissed: 'Dismissed',
}

function Payments({ payments }: { payments: readonly Payment[] }) {
  return (
    <Box>
      <Title order={3} size="h5" mb="xs">
        Payments
      </Title>
      <Stack gap="xs">
        {payments.map((payment) => (
          <Box key={payment.paymentId}>
            <Text size="sm" fw={500} className="figures">
              {formatAmount(payment.amount, payment.currency)}
              {payment.tax !== '0' && ` with ${formatAmount(payment.tax, payment.currency)} of tax`} ·{' '}
              {PAYMENT_WORDS[payment.state]}
            </Text>
            <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
              <Moment at={payment.receivedAt} />
              {payment.sender !== null && ` from ${payment.sender}`}
              {payment.state !== 'credited' && `. ${mismatchWords(payment.mismatch)}`}
              {payment.resolution !== null && `. ${payment.resolvedBy}: ${payment.resolution}`}
            </Text>
          </Box>
        ))}
      </Stack>
    </Box>
  )
}

function Reversals({ reversals }: { reversals: OrderDetails['reversals'] }) {
  return (
    <Box>
      <Title order={3} size="h5" mb="xs">
        Chargebacks and refunds by the provider
      </Title>
      <Stack gap="xs">
        {reversals.map((reversal) => (
          <ReversalFacts key={reversal.reversalId} reversal={reversal} />
        ))}
      </Stack>
    </Box>
  )
}
