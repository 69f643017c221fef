/** Says of payments that arrived and did not fit what becomes of them. */
import { Alert, List } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { formatMoney } from '@/dashboard/format'
import type { OrderDetail } from './order-data'
import { mismatchWords } from './words'

type Payment = OrderDetail['payments'][number]

export function ReviewNotice({ payments }: { payments: OrderDetail['payments'] }) {
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
