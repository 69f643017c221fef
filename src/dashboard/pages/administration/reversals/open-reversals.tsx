/** The list of chargebacks and refunds that moved no credit, for somebody to look at. Nothing is shown while there are none. */
import { Stack, Text } from '@mantine/core'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Section } from '@/dashboard/components/section'
import { ErrorState } from '@/dashboard/components/states/error-state'
import { useOpenReversals } from '@/dashboard/pages/administration/admin-data'
import { ReversalFacts } from './reversal-facts'

export function OpenReversals() {
  const reversals = useOpenReversals()
  if (reversals.isError) return <ErrorState error={reversals.error} retry={reversals.refetch} />
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
