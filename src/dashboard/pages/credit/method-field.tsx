/** The choice of how to pay for credit: one card per method that is offered. */
import { Badge, Group, Radio, Stack, Text } from '@mantine/core'
import type { CreditOptions, Order } from './order-data'

export type Method = Order['method']

type MethodFieldProps = {
  options: CreditOptions
  value: Method | null
  error: string | undefined
  onChange(value: Method): void
}

export function MethodField({ options, value, error, onChange }: MethodFieldProps) {
  const { bankTransfer, deposit } = options
  return (
    <Radio.Group
      label="How do you want to pay?"
      value={value}
      error={error}
      onChange={(chosen) => onChange(chosen as Method)}
    >
      <Stack gap="xs" mt={4}>
        {deposit && (
          <MethodCard
            value="deposit"
            title="Deposit"
            badge={deposit.isSandbox ? 'Sandbox' : undefined}
            text="Pay on a page made for this order. Credited automatically within moments of the payment's arrival."
          />
        )}
        {bankTransfer && (
          <MethodCard
            value="bank_transfer"
            title="Bank transfer"
            badge={bankTransfer.bank.isExample ? 'Example account' : undefined}
            text="Transfer from your bank with a reference. Usually credited one to three working days later."
          />
        )}
      </Stack>
    </Radio.Group>
  )
}

type MethodCardProps = { value: Method; title: string; badge: string | undefined; text: string }

function MethodCard({ value, title, badge, text }: MethodCardProps) {
  return (
    <Radio.Card value={value} p="md" radius="md" aria-label={title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <div>
          <Group gap="xs">
            <Text fw={600} size="sm">
              {title}
            </Text>
            {badge !== undefined && (
              <Badge variant="light" color="yellow" radius="sm" tt="none">
                {badge}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  )
}
