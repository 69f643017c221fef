/** The form in which a customer orders credit. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { accountApi } from '@/dashboard/account'
import { ApiError, answer } from '@/dashboard/client'
import { notifyError } from '@/dashboard/components/notify'
import { formatMoney } from '@/dashboard/format'
import { textOf } from '@/lib/json'
import { AmountField } from './amount-field'
import { type Method, MethodField } from './method-field'
import { type CreditOptions, ordersChanged } from './order-data'

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
  const order = useMutation({
    mutationFn: ({ amountUsd, method }: Values) =>
      answer(accountApi().orders.post({ amountUsd: plain(amountUsd), method: method ?? 'deposit' })),
    onSuccess: ({ orderId }) => {
      navigate(`/credit/orders/${orderId}`)
      void ordersChanged()
    },
    onError: (error) => {
      const param = error instanceof ApiError ? error.param : undefined
      if (param === 'amountUsd' || param === 'method') form.setFieldError(param, error.message)
      else notifyError(error)
    },
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
    <form onSubmit={form.onSubmit((values) => order.mutate(values))} noValidate>
      <Stack gap="lg">
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
          <Button type="submit" loading={order.isPending}>
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

/** What people type beside the digits. */
function plain(text: string): string {
  return text.replace(/[\s$]/g, '').replace(/,(?=\d{3}\b)/g, '')
}

function amountFault(text: string, { minimumUsd, maximumUsd }: CreditOptions): string | null {
  const amount = plain(text)
  if (!AMOUNT.test(amount)) return 'Enter an amount such as 25 or 12.50.'
  // Only a hint while typing: the server compares exactly.
  if (Number(amount) >= Number(minimumUsd) && Number(amount) <= Number(maximumUsd)) return null
  return `Enter an amount from ${formatMoney(minimumUsd)} to ${formatMoney(maximumUsd)}.`
}
