/** How to pay an order: by bank transfer, or on a deposit provider's page. */
import { Alert, Button, Group, Loader, SimpleGrid, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle, IconExternalLink } from '@tabler/icons-react'
import { useSearch } from 'wouter'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Section } from '@/dashboard/components/section'
import { formatMoney } from '@/dashboard/format'
import { perform } from '@/people/client'
import { Countdown } from './countdown'
import { type OrderDetail, ordersChanged } from './order-data'
import { groupIban } from './words'

/** The details of the bank transfer, with copy buttons. */
export function BankTransfer({ order }: { order: OrderDetail }) {
  const { bank, reference, amountUsd, paymentAccount } = order
  const iban = paymentAccount ?? ''
  const amount = formatMoney(amountUsd).replace(/[$,]/g, '')
  return (
    <Section
      title="Transfer exactly this amount"
      description={
        <>
          With the reference, so that we can tell whose payment it is.{' '}
          <span className="no-print">
            You have <Countdown until={order.expiresAt} /> left.
          </span>
        </>
      }
    >
      {bank?.isExample && (
        <Alert color="red" icon={<IconAlertTriangle />} title="Do not pay to this account" mb="md">
          These are example details: nobody has configured an account.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" verticalSpacing="md">
        <CopyField label="Amount" value={amount} shown={`${amount} USD`} />
        <CopyField label="Reference" value={reference} />
        {bank && <CopyField label="Beneficiary" value={bank.beneficiary} />}
        <CopyField label="IBAN" value={iban} shown={groupIban(iban)} />
        {bank?.bic && <CopyField label="BIC" value={bank.bic} />}
        {bank?.bank && <CopyField label="Bank" value={bank.bank} />}
        {bank?.address && <CopyField label="Beneficiary's address" value={bank.address} />}
      </SimpleGrid>
      {bank?.note && !bank.isExample && (
        <Text size="sm" c="dimmed" mt="md">
          {bank.note}
        </Text>
      )}
    </Section>
  )
}

/** The link to the provider's payment page, and the wait for its confirmation. */
export function DepositPayment({ order }: { order: OrderDetail }) {
  const { paymentUrl, paymentAccount, reference, amountUsd, events } = order
  const isProcessing = events.some(({ kind }) => kind === 'processing')
  // The provider adds `paid` to the URL when people return after paying.
  const hasReturned = new URLSearchParams(useSearch()).has('paid')
  const isDone = isProcessing || hasReturned
  const isCharge = order.origin === 'auto_top_up'
  return (
    <Section title="Pay your deposit" description={isDone ? undefined : <TimeLeft order={order} />}>
      <Stack gap="lg">
        {isDone && (
          <Alert color="blue" title={isProcessing ? 'Your bank is working on the payment' : 'Thank you'}>
            {isProcessing
              ? 'This can take some days. The credit is added when the money has arrived. You do not need to pay again.'
              : 'Your payment is being confirmed. You do not need to pay again.'}
          </Alert>
        )}
        {paymentUrl === null &&
          paymentAccount === null &&
          (isCharge ? <Charge order={order} /> : <SetUpAgain order={order} />)}
        {paymentUrl !== null && !isDone && (
          <Group className="no-print">
            <Button component="a" href={paymentUrl} rightSection={<IconExternalLink size={16} />}>
              Pay {formatMoney(amountUsd)}
            </Button>
          </Group>
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" verticalSpacing="md">
          {paymentAccount !== null && (
            <CopyField
              label="Account for this order"
              value={paymentAccount.replace(/\s/g, '')}
              shown={paymentAccount}
            />
          )}
          <CopyField label="Reference" value={reference} />
        </SimpleGrid>
        <Group gap="sm" wrap="nowrap" className="no-print">
          <Loader size="xs" role="status" aria-label="Waiting" />
          <Text size="sm" c="dimmed">
            Waiting for the payment. This page notices it by itself.
          </Text>
        </Group>
      </Stack>
    </Section>
  )
}

function TimeLeft({ order: { expiresAt } }: { order: OrderDetail }) {
  return (
    <>
      The payment was set up for this order only. You have <Countdown until={expiresAt} /> left.
    </>
  )
}

/** The order of an auto top-up: its saved card is being charged, or the customer has to pay it. */
function Charge({ order: { orderId, amountUsd, events } }: { order: OrderDetail }) {
  const form = useForm({})
  const submission = useSubmission(form, async () => {
    const { paymentUrl } = await perform('POST /orders/:orderId/set-up', { orderId })
    if (paymentUrl !== null) window.location.assign(paymentUrl)
  })
  if (!events.some(({ kind }) => kind === 'confirmation_needed')) {
    return (
      <Alert color="blue" title="Your saved card is being charged">
        You need not do anything.
      </Alert>
    )
  }
  return (
    <form onSubmit={submission.submit}>
      <Stack gap="sm" align="flex-start">
        <FormError error={submission.error} />
        <Alert color="yellow" title="Your bank asks you to confirm this payment">
          Your saved card was not charged. Pay this order yourself. Until you pay or cancel it, no further credit is
          bought automatically.
        </Alert>
        <Button type="submit" loading={submission.isRunning} rightSection={<IconExternalLink size={16} />}>
          Pay {formatMoney(amountUsd)}
        </Button>
      </Stack>
    </form>
  )
}

/** The provider recognizes the order by its id, so it never creates a second page. */
function SetUpAgain({ order: { orderId } }: { order: OrderDetail }) {
  const form = useForm({})
  const submission = useSubmission(form, async () => {
    await perform('POST /orders/:orderId/set-up', { orderId })
    await ordersChanged()
  })
  return (
    <form onSubmit={submission.submit}>
      <Stack gap="sm" align="flex-start">
        <FormError error={submission.error} />
        <Alert color="yellow" title="The page to pay on is not there yet">
          Nothing was charged. Ask for the page again, or cancel this order.
        </Alert>
        <Button type="submit" variant="default" loading={submission.isRunning}>
          Ask for the page again
        </Button>
      </Stack>
    </form>
  )
}
