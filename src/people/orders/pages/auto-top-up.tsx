/** The automatic top-up on the credit page: the saved card, when it is charged, and the latest charges. */
import { Alert, Anchor, Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle, IconCreditCard } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Link, useSearch } from 'wouter'
import { useMay } from '@/dashboard/account'
import { confirm } from '@/dashboard/components/confirm'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { formatMoney } from '@/dashboard/format'
import {
  type AutoTopUp,
  lookForCard,
  openCardPage,
  removeCard,
  turnOffTopUp,
  turnOnTopUp,
  useAutoTopUp,
  useBalance,
} from './order-data'
import { cardWords, STATE_WORDS, STOP_WORDS } from './words'

export function AutoTopUpSection() {
  useReturnFromCardPage()
  return (
    <Section
      title="Automatic top-up"
      description="Buys credit with a saved card when your balance is low. The card is saved at the payment provider, not here."
    >
      <Loaded query={useAutoTopUp()}>{(topUp) => <Content topUp={topUp} />}</Loaded>
    </Section>
  )
}

/** Looks for a saved card when the provider has sent the person back, with `?card` in the URL. */
function useReturnFromCardPage(): void {
  const hasReturned = new URLSearchParams(useSearch()).has('card')
  const mayPay = useMay()('billing.pay')
  useEffect(() => {
    if (hasReturned && mayPay) void lookForCard().catch(notifyError)
  }, [hasReturned, mayPay])
}

function Content({ topUp }: { topUp: AutoTopUp }) {
  const mayPay = useMay()('billing.pay')
  const { card, isOn, stopped, orders } = topUp
  if (!card) {
    return (
      <Stack gap="md">
        <Stopped stopped={stopped} />
        <EmptyState icon={IconCreditCard} title="No card is saved" action={mayPay && <SaveCard label="Save a card" />}>
          {mayPay
            ? 'Save a card first. Then choose when how much credit is bought. Nothing is charged before that.'
            : 'Owners and billing members can save one.'}
        </EmptyState>
        <Latest orders={orders} />
      </Stack>
    )
  }
  return (
    <Stack gap="lg">
      <div role="status" aria-label="State of the automatic top-up">
        <Status tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</Status>
      </div>
      <Stopped stopped={stopped} />
      <Card card={card} isOn={isOn} mayPay={mayPay} />
      {mayPay ? <AmountsForm key={JSON.stringify(topUp.amounts)} topUp={topUp} /> : <Amounts topUp={topUp} />}
      <Latest orders={orders} />
    </Stack>
  )
}

function Stopped({ stopped }: { stopped: AutoTopUp['stopped'] }) {
  if (stopped === null || stopped === 'person') return null
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title="The automatic top-up is off">
      {STOP_WORDS[stopped]}
    </Alert>
  )
}

type CardProps = { card: NonNullable<AutoTopUp['card']>; isOn: boolean; mayPay: boolean }

function Card({ card, isOn, mayPay }: CardProps) {
  const { expMonth, expYear } = card
  const hasExpired = Date.now() >= Date.UTC(expYear, expMonth)
  return (
    <Group gap="md">
      <div>
        <Text size="sm" fw={550}>
          {cardWords(card)}
        </Text>
        <Text size="sm" c="dimmed">
          {hasExpired ? 'Expired' : 'Expires'} {String(expMonth).padStart(2, '0')}/{expYear}
        </Text>
      </div>
      {mayPay && (
        <Group gap="xs">
          <SaveCard label="Save another card" variant="default" />
          <Button variant="default" onClick={() => askToRemove(isOn)}>
            Remove card
          </Button>
        </Group>
      )}
    </Group>
  )
}

function askToRemove(isOn: boolean): void {
  confirm({
    title: 'Remove the saved card?',
    body: isOn
      ? 'This turns the automatic top-up off. Requests are refused once your credit is used up.'
      : 'You can save a card again at any time.',
    action: 'Remove card',
    async run() {
      await removeCard()
      notifyDone('The card was removed.')
    },
  })
}

function SaveCard({ label, variant }: { label: string; variant?: 'default' }) {
  const [isOpening, setIsOpening] = useState(false)
  async function open() {
    setIsOpening(true)
    try {
      window.location.assign(await openCardPage())
    } catch (error) {
      notifyError(error)
      setIsOpening(false)
    }
  }
  return (
    <Button onClick={() => void open()} loading={isOpening} {...(variant && { variant })}>
      {label}
    </Button>
  )
}

const DEFAULTS = { belowUsd: '10', amountUsd: '50', perDayUsd: '100' }

function AmountsForm({ topUp: { amounts, limits, isOn, card } }: { topUp: AutoTopUp }) {
  const balance = useBalance().data?.available
  const form = useForm({ initialValues: amounts ?? DEFAULTS })
  const submission = useSubmission(form, async ({ belowUsd, amountUsd, perDayUsd }) => {
    await turnOnTopUp({ belowUsd: belowUsd.trim(), amountUsd: amountUsd.trim(), perDayUsd: perDayUsd.trim() })
    notifyDone(isOn ? 'The amounts were saved.' : 'The automatic top-up is on.')
  })
  const isBelow = balance !== undefined && Number(balance) < Number(form.values.belowUsd)
  const field = (name: keyof typeof DEFAULTS, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      inputMode="decimal"
      autoComplete="off"
      maxLength={11}
      leftSection="$"
      {...form.getInputProps(name)}
    />
  )
  return (
    <Stack gap="md">
      <PlainForm
        submission={submission}
        action={isOn ? 'Save amounts' : 'Turn on'}
        button={{ disabled: isOn && !form.isDirty() }}
        maw={FORM_WIDTH}
      >
        {field(
          'belowUsd',
          'When the balance is below',
          `In US dollars, up to ${formatMoney(limits.belowUsd.maximumUsd)}`,
        )}
        {field('amountUsd', 'Buy this much', 'In US dollars, at least the amount above. Tax is added where it is due')}
        {field('perDayUsd', 'At most in a day', 'In US dollars. A day begins at midnight, UTC')}
        <Text size="sm" c="dimmed">
          You agree that {card ? cardWords(card) : 'the card'} is charged by itself, until you turn this off.
          {!isOn && isBelow && ' Your balance is below the amount, so the card is charged at once.'}
        </Text>
      </PlainForm>
      {isOn && (
        <Group>
          <Button variant="default" onClick={() => void turnOff()}>
            Turn off
          </Button>
        </Group>
      )}
    </Stack>
  )
}

async function turnOff(): Promise<void> {
  try {
    await turnOffTopUp()
    notifyDone('The automatic top-up is off. The card stays saved.')
  } catch (error) {
    notifyError(error)
  }
}

function Amounts({ topUp: { amounts } }: { topUp: AutoTopUp }) {
  if (!amounts) return null
  return (
    <Text size="sm">
      Below {formatMoney(amounts.belowUsd)}, {formatMoney(amounts.amountUsd)} is bought, at most{' '}
      {formatMoney(amounts.perDayUsd)} in a day.
    </Text>
  )
}

function Latest({ orders }: { orders: AutoTopUp['orders'] }) {
  if (orders.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={550} mb={4}>
        Latest automatic top-ups
      </Text>
      <List size="sm" spacing={4}>
        {orders.map(({ orderId, reference, amountUsd, state, createdAt }) => (
          <List.Item key={orderId}>
            <Anchor component={Link} href={`/credit/orders/${orderId}`} size="sm" underline="always">
              {reference}
            </Anchor>
            , {formatMoney(amountUsd)}, <Moment at={createdAt} />: {STATE_WORDS[state].label.toLowerCase()}
          </List.Item>
        ))}
      </List>
    </div>
  )
}
