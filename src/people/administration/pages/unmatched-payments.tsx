/** The list of payments that match no order, to be credited or dismissed; hidden while empty. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Rows, SplitRow } from '@/dashboard/components/lists/rows'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Moment } from '@/dashboard/components/moment'
import { Section } from '@/dashboard/components/section'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { Status } from '@/dashboard/components/status'
import { administer } from '@/people/client'
import { type Payment, useUnmatchedPayments } from './admin-data'
import { openMoneyDialog } from './money-dialog'
import { openReasonDialog } from './reason-dialog'
import { formatAmount, mismatchWords } from './words'

export function UnmatchedPayments() {
  const payments = useUnmatchedPayments()
  if (payments.isLoadingError) return <ErrorState error={payments.error} retry={payments.refetch} />
  const items = payments.data?.pages.flatMap((page) => page.items) ?? []
  if (items.length === 0) return null
  return (
    <Section
      title="Payments to match"
      description="Money that arrived and fits no open order. Credit it to an order, or dismiss it."
      isFlush
    >
      <Rows>
        {items.map((payment) => (
          <PaymentRow key={payment.paymentId} payment={payment} />
        ))}
      </Rows>
      <ShowMore {...payments} />
    </Section>
  )
}

function PaymentRow({ payment }: { payment: Payment }) {
  return (
    <SplitRow>
      <Stack gap={2} style={{ flex: '1 1 220px' }} miw={0}>
        <Group gap="xs">
          <Text size="sm" fw={600} className="figures">
            {formatAmount(payment.amount, payment.currency)}
          </Text>
          <Status tone="waiting">{mismatchWords(payment.mismatch)}</Status>
        </Group>
        <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
          <Moment at={payment.receivedAt} />
          {payment.sender !== null && ` from ${payment.sender}`}
          {payment.text !== null && `: ${payment.text}`}
        </Text>
      </Stack>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => openCredit(payment)}>
          Credit
        </Button>
        <Button size="xs" variant="default" onClick={() => openDismiss(payment)}>
          Dismiss
        </Button>
      </Group>
    </SplitRow>
  )
}

/** Opens the dialog that credits a payment. It also asks for the order if the payment names none. */
function openCredit(payment: Payment): void {
  if (payment.orderId !== null) creditTo(payment, payment.orderId)
  else {
    const close = () => modals.close(id)
    const id = modals.open({
      title: 'Credit payment',
      centered: true,
      children: <FindOrder payment={payment} close={close} />,
    })
  }
}

function FindOrder({ payment, close }: { payment: Payment; close(): void }) {
  const form = useForm({
    initialValues: { reference: '' },
    validate: { reference: (text) => (text.trim() === '' ? "Enter the order's reference." : null) },
  })
  const submission = useSubmission(form, async ({ reference }) => {
    const { items } = await administer('GET /orders', { reference: reference.trim(), limit: 2 })
    const [order, another] = items
    if (!order || another) throw new Error('No single order has this reference.')
    close()
    creditTo(payment, order.orderId, order.reference)
  })
  return (
    <DialogForm submission={submission} cancel={close} action="Continue">
      <TextInput
        label="Reference of the order"
        placeholder="SVC-7K3M-9QXP"
        data-autofocus
        {...form.getInputProps('reference')}
      />
    </DialogForm>
  )
}

function creditTo(payment: Payment, orderId: string, reference = 'the order it names'): void {
  openMoneyDialog({
    title: 'Credit payment',
    body: `The account of ${reference} is credited. ${formatAmount(payment.amount, payment.currency)} had arrived.`,
    action: 'Credit payment',
    amount: { label: 'Amount in USD', initial: payment.currency === 'USD' ? payment.net : '' },
    done: 'The payment was credited.',
    run: ({ amount, reason, key }) =>
      administer('POST /payments/:paymentId/credit', { paymentId: payment.paymentId, orderId, amount, reason, key }),
  })
}

function openDismiss(payment: Payment): void {
  openReasonDialog({
    title: 'Dismiss payment',
    body: `${formatAmount(payment.amount, payment.currency)} will be closed without credit: sent back, or not ours. This is final.`,
    action: 'Dismiss payment',
    label: 'Reason',
    isDestructive: true,
    done: 'The payment was dismissed.',
    run: (reason) => administer('POST /payments/:paymentId/dismiss', { paymentId: payment.paymentId, reason }),
  })
}
