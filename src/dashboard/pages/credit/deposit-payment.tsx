/** The way to the provider's page of an order, and the wait for its word. */
import { Alert, Button, Group, Loader, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { Section } from '@/dashboard/components/section'
import { formatMoney } from '@/dashboard/format'
import { Countdown } from './countdown'
import type { OrderDetail } from './order-data'

export function DepositPayment({ order }: { order: OrderDetail }) {
  const { paymentUrl, paymentAccount, reference, amountUsd } = order
  return (
    <Section
      title="Pay your deposit"
      description={
        <>
          The payment was set up for this order only. You have <Countdown until={order.expiresAt} /> left.
        </>
      }
    >
      <Stack gap="lg">
        {paymentUrl === null && paymentAccount === null && (
          <Alert color="yellow" title="The provider has not set the payment up">
            Cancel this order and make another one.
          </Alert>
        )}
        {paymentUrl !== null && (
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
