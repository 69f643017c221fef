/** What a provider said of money that is gone or came back, in two lines and whatever else its place has to say. */
import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Moment } from '@/dashboard/components/moment'
import type { OrderDetails } from '@/dashboard/pages/administration/admin-data'
import { formatAmount, reversalFaultWords, reversalWords } from '@/dashboard/pages/administration/words'

type ReversalFactsProps = { reversal: OrderDetails['reversals'][number]; children?: ReactNode }

export function ReversalFacts({ reversal, children }: ReversalFactsProps) {
  return (
    <Box>
      <Text size="sm" fw={500} className="figures">
        {formatAmount(reversal.amount, reversal.currency)} · {reversalWords(reversal.kind, reversal.state)}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="wrap-anywhere">
        <Moment at={reversal.receivedAt} /> {reversal.externalId}
        {reversal.note !== null && `: ${reversal.note}`}
        {reversal.fault !== null && `. ${reversalFaultWords(reversal.fault)}`}
      </Text>
      {children}
    </Box>
  )
}
