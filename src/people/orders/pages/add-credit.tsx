/** The form by which customers order credit. */
import { Alert, Badge, Button, Chip, Group, Input, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { formatMoney } from '@/dashboard/format'
import { textOf } from '@/lib/json'
import { perform } from '@/people/client'
import { type CreditOptions, type Order, ordersChanged } from './order-data'
import { methodWords } from './words'

type Values = { amountUsd: string; method: Method | null }

const AMOUNT = /^\d{1,8}(\.\d{1,2})?$/
const DEFAULT_USD = '50'

export function AddCredit({ options }: { options: CreditOptions }) {
  const [, navigate] = useLocation()
  const form = useForm<Values>({
    initialValues: { amountUsd: DEFAULT_USD, method: firstMethod(options) },
    validate: {
      amountUsd: (text) => amountFault(text, options),
      method: (method) => (method === null ? 'Choose how you want to pay.' : null),
    },
  })
  const submission = useSubmission(form, async ({ amountUsd, method }) => {
    const order = { amountUsd: plain(amountUsd), method: method ?? 'deposit' }
    const { orderId } = await perform('POST /orders', order)
    navigate(`/credit/orders/${orderId}`)
    void ordersChanged()
  })
  if (firstMethod(options) === null) {
    return (
      <Alert color="yellow" title="Credit cannot be ordered here now">
        The operator of this service has not set up any way to pay. Ask them for credit.
      </Alert>
    )
  }
  const { amountUsd, method } = form.values
  const isAmount = amountFault(amountUsd, options) === null
  return (
    <form onSubmit={submission.submit} noValidate>
      <Stack gap="lg">
        <FormError error={submission.error} />
        <AmountField
          presets={options.presetsUsd}
          minimumUsd={options.minimumUsd}
          maximumUsd={options.maximumUsd}
          value={amountUsd}
          error={textOf(form.errors.amountUsd)}
          onChange={(value) => form.setFieldValue('amountUsd', value)}
        />
        <MethodField
          options={options}
          value={method}
          error={textOf(form.errors.method)}
          onChange={(value) => form.setFieldValue('method', value)}
        />
        <Group gap="md">
          <Button type="submit" loading={submission.isRunning}>
            {isAmount ? `Order ${formatMoney(plain(amountUsd))} of credit` : 'Order credit'}
          </Button>
          <Text size="sm" c="dimmed">
            Nothing is charged now. Credit is added when the payment arrives.
          </Text>
        </Group>
      </Stack>
    </form>
  )
}

function firstMethod({ deposit, bankTransfer }: CreditOptions): Method | null {
  if (deposit) return 'deposit'
  return bankTransfer ? 'bank_transfer' : null
}

/** Removes spaces, dollar signs and thousands separators. */
function plain(text: string): string {
  return text.replace(/[\s$]/g, '').replace(/,(?=\d{3}\b)/g, '')
}

function amountFault(text: string, { minimumUsd, maximumUsd }: CreditOptions): string | null {
  const amount = plain(text)
  if (!AMOUNT.test(amount)) return 'Enter an amount such as 25 or 12.50.'
  // Only a hint while typing: the server does the exact comparison.
  if (Number(amount) >= Number(minimumUsd) && Number(amount) <= Number(maximumUsd)) return null
  return `Enter an amount from ${formatMoney(minimumUsd)} to ${formatMoney(maximumUsd)}.`
}

type AmountFieldProps = {
  presets: readonly string[]
  minimumUsd: string
  maximumUsd: string
  /** Decimal USD as typed. */
  value: string
  error: string | undefined
  onChange(value: string): void
}

function AmountField({ presets, minimumUsd, maximumUsd, value, error, onChange }: AmountFieldProps) {
  const limits = `From ${short(minimumUsd)} to ${short(maximumUsd)}`
  return (
    <Stack gap="sm">
      <Input.Wrapper label="Amount" labelElement="div">
        <Chip.Group value={value} onChange={(chosen) => onChange(String(chosen))}>
          <Group gap="xs" mt={4} role="radiogroup" aria-label="Usual amounts">
            {presets.map((preset) => (
              <Chip key={preset} value={preset} radius="md" size="md">
                {short(preset)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <TextInput
        label="Or another amount in US dollars"
        description={limits}
        inputMode="decimal"
        autoComplete="off"
        maxLength={11}
        leftSection="$"
        maw={280}
        value={value}
        error={error}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Stack>
  )
}

/** Omits `.00`: `$25`. */
function short(usd: string): string {
  return formatMoney(usd).replace(/\.00$/, '')
}

type Method = Order['method']

type MethodFieldProps = {
  options: CreditOptions
  value: Method | null
  error: string | undefined
  onChange(value: Method): void
}

function MethodField({ options, value, error, onChange }: MethodFieldProps) {
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
            title={methodWords({ method: 'deposit', provider: deposit.provider })}
            badge={deposit.isSandbox ? 'Sandbox' : undefined}
            text={`Pay on a page made for this order. Credited automatically within moments of the payment's arrival.${deposit.addsTax ? ' Tax is added there, where it is due; it is not credit.' : ''}`}
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
