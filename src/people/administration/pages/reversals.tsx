/** Reversals that providers report (refunds, chargebacks, and their cancellation), and the list of those that changed no credit. */
import { Box, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Moment } from '@/dashboard/components/moment'
import { Section } from '@/dashboard/components/section'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { type OrderDetails, useOpenReversals } from './admin-data'
import { formatAmount, reversalFaultWords, reversalWords } from './words'

type ReversalFactsProps = { reversal: OrderDetails['reversals'][number]; children?: ReactNode }

/** A reversal's facts in two lines, followed by `children`. */
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

/** The list of reversals that changed no credit and wait for a decision. Hidden while it is empty. */
export function OpenReversals() {
  const reversals = useOpenReversals()
  if (reversals.isLoadingError) return <ErrorState error={reversals.error} retry={reversals.refetch} />
  const items = reversals.data?.pages.flatMap((page) => page.items) ?? []
  if (items.length === 0) return null
  return (
    <Section
      title="Chargebacks to look at"
      description="Money that a provider took back or gave again, and no credit that followed: its payment is unknown, or it contradicts what we know. Compare with the provider's own list."
    >
      <Stack gap="sm">
        {items.map((reversal) => (
          <ReversalFacts key={reversal.reversalId} reversal={reversal}>
            <Text size="xs" c="dimmed" className="wrap-anywhere">
              {reversal.source}, undoes {reversal.undoes}
              {reversal.orderId !== null && `, order ${reversal.orderId}`}
            </Text>
          </ReversalFacts>
        ))}
      </Stack>
      <ShowMore {...reversals} />
    </Section>
  )
}
