/** A customer's buttons for an order: mark as paid, cancel, print. */
import { Button, Modal, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPrinter, IconReceipt } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useMay } from '@/dashboard/account'
import { confirm } from '@/dashboard/components/confirm'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { formatMoney } from '@/dashboard/format'
import { perform } from '@/people/client'
import { type OrderDetail, ordersChanged } from './order-data'

const MAX_NOTE_CHARS = 500

export function OrderActions({ order }: { order: OrderDetail }) {
  const may = useMay()
  const isOpen = order.state === 'pending' && may('billing.pay')
  return (
    <>
      <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
        Print
      </Button>
      {order.hasProviderDocument && <ProviderDocument order={order} />}
      {order.receipt && (
        <Button
          variant={order.hasProviderDocument ? 'default' : 'filled'}
          component={Link}
          href={`/credit/orders/${order.orderId}/receipt`}
          leftSection={<IconReceipt size={16} />}
        >
          Receipt
        </Button>
      )}
      {isOpen && (
        <Button variant="default" onClick={() => cancel(order)}>
          Cancel order
        </Button>
      )}
      {isOpen && order.method === 'bank_transfer' && <ClaimPaid order={order} />}
    </>
  )
}

/** Opens the provider's invoice page. The URL expires after some weeks, so each click requests a new one. */
function ProviderDocument({ order: { orderId } }: { order: OrderDetail }) {
  const [isAsking, setIsAsking] = useState(false)
  async function open() {
    setIsAsking(true)
    try {
      const { url } = await perform('GET /orders/:orderId/document', { orderId })
      window.location.assign(url)
    } catch (error) {
      notifyError(error)
    } finally {
      setIsAsking(false)
    }
  }
  return (
    <Button onClick={() => void open()} loading={isAsking} leftSection={<IconReceipt size={16} />}>
      Invoice or receipt
    </Button>
  )
}

function cancel({ orderId, reference, amountUsd }: OrderDetail): void {
  confirm({
    title: 'Cancel this order?',
    body: `Order ${reference} over ${formatMoney(amountUsd)} will take no payment any more. If you have paid already, do not cancel it.`,
    action: 'Cancel the order',
    run: async () => {
      await perform('POST /orders/:orderId/cancel', { orderId })
      await ordersChanged()
      notifyDone('The order was cancelled.')
    },
  })
}

function ClaimPaid({ order }: { order: OrderDetail }) {
  const [isOpen, { open, close }] = useDisclosure()
  const isClaimed = order.claimedAt !== null
  return (
    <>
      <Button onClick={open} variant={isClaimed ? 'default' : 'filled'}>
        {isClaimed ? 'Change my note' : "I've paid"}
      </Button>
      <Modal opened={isOpen} onClose={close} title="You have paid this order" centered>
        <ClaimForm order={order} close={close} />
      </Modal>
    </>
  )
}

function ClaimForm({ order, close }: { order: OrderDetail; close(): void }) {
  const form = useForm({ initialValues: { note: order.claimNote ?? '' } })
  const submission = useSubmission(form, async ({ note }) => {
    await perform('POST /orders/:orderId/claim-paid', { orderId: order.orderId, note })
    await ordersChanged()
    close()
    notifyDone('Thank you. We will look out for your payment.')
  })
  return (
    <DialogForm
      submission={submission}
      cancel={close}
      action="I've paid"
      lead={
        <Text size="sm">
          We will look out for {formatMoney(order.amountUsd)} with the reference {order.reference}. The credit is added
          once the money has arrived.
        </Text>
      }
    >
      <Textarea
        label="When and from which account did you pay?"
        description="Optional. It helps us to find a payment whose reference got lost."
        maxLength={MAX_NOTE_CHARS}
        autosize
        minRows={3}
        data-autofocus
        {...form.getInputProps('note')}
      />
    </DialogForm>
  )
}
