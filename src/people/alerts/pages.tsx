/** The alerts page: the person's choice of mails, and the account's thresholds and further addresses. */
import { Alert, Badge, Button, Group, List, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '@/dashboard/account'
import { confirm } from '@/dashboard/components/confirm'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatMoney } from '@/dashboard/format'
import { askAgain } from '@/dashboard/query'
import { perform, type ResultOf } from '@/people/client'
import { checkEmail } from '@/people/sign-in/pages/rules'
import { ALERT_MAILS, MAX_ALERT_ADDRESSES, type MailWords, SCHEDULED_MAILS } from './fields'

type Alerts = ResultOf<'GET /alerts'>
type AccountSettings = NonNullable<Alerts['account']>

const ALERTS = ['alerts'] as const

/** Waits for a change, reloads the page's data, then returns the change's result. */
async function shownAfter<Result>(change: Promise<Result>): Promise<Result> {
  const result = await change
  await askAgain({ queryKey: ALERTS })
  return result
}

export function AlertsPage() {
  const alerts = useQuery({ queryKey: ALERTS, queryFn: () => perform('GET /alerts', {}) })
  return (
    <Page
      title="Alerts"
      description="Mails about credit, budgets, keys and usage. Each has a link that turns off its kind."
    >
      <Loaded query={alerts}>
        {(shown) => (
          <>
            {!shown.isMailPossible && (
              <Alert color="yellow" title="No mails are sent here">
                The operator of this service has set up no mail. What you set holds once there is.
              </Alert>
            )}
            <OwnMails {...shown} />
            <ScheduledMails {...shown} />
            <AccountAlerts {...shown} />
            <AlwaysSent />
          </>
        )}
      </Loaded>
    </Page>
  )
}

type Kind = keyof Alerts['own'] | keyof Alerts['scheduled']

/** A switch that stays enabled during its request: disabling it would remove the focus. */
function MailSwitch({
  kind,
  label,
  description,
  isOn,
}: Record<'label' | 'description', string> & { kind: Kind; isOn: boolean }) {
  const choose = (isWanted: boolean) =>
    void shownAfter(perform('PUT /alerts/own', { kind, isWanted })).catch(notifyError)
  return (
    <Switch
      label={label}
      description={description}
      checked={isOn}
      onChange={(event) => choose(event.currentTarget.checked)}
    />
  )
}

function OwnMails({ email, own, getsAll }: Alerts) {
  return (
    <Section title="Your mails" description={<span className="wrap-anywhere">To {email}, for this account.</span>}>
      <Stack gap="md">
        {rowsOf(ALERT_MAILS).map(([kind, { label, all, own: one }]) => {
          const description = getsAll ? all : one
          return description && <MailSwitch key={kind} {...{ kind, label, description }} isOn={own[kind]} />
        })}
      </Stack>
    </Section>
  )
}

function ScheduledMails({ scheduled }: Alerts) {
  return (
    <Section title="Scheduled mails" description="Of the usage that you may see. None is sent of a time without any.">
      <Stack gap="md">
        {rowsOf(SCHEDULED_MAILS).map(([kind, { label, all }]) => (
          <MailSwitch key={kind} {...{ kind, label }} description={all} isOn={scheduled[kind]} />
        ))}
      </Stack>
    </Section>
  )
}

function rowsOf<Name extends string>(mails: Record<Name, MailWords>) {
  return Object.entries(mails) as [Name, MailWords][]
}

function AccountAlerts({ account }: Alerts) {
  const mayChange = useMay()('alerts.change')
  if (account === null) return null
  const { firstUsd, secondUsd, addresses } = account
  return (
    <>
      <Section
        title="The account"
        description="One mail where the credit falls below a threshold, and another only after it was more than a tenth above; at most one in six hours."
      >
        {mayChange ? (
          <ThresholdsForm {...account} />
        ) : (
          <Stack gap={4}>
            <Text size="sm">Low credit: {thresholdText(firstUsd)}</Text>
            <Text size="sm">Very low credit: {thresholdText(secondUsd)}</Text>
          </Stack>
        )}
      </Section>
      <AlertAddresses addresses={addresses} mayChange={mayChange} />
    </>
  )
}

function thresholdText(usd: string | null): string {
  return usd === null ? 'no alert' : `below ${formatMoney(usd)}`
}

function AlwaysSent() {
  return (
    <Section title="Always sent">
      <List size="sm" spacing={6}>
        <List.Item>A sign-in from a new browser, a new password, and a changed second step.</List.Item>
        <List.Item>Invitations, a new role, and the end of a membership.</List.Item>
        <List.Item>
          A new owner, a new management key, and another list of allowed addresses, to those who look after the account.
        </List.Item>
      </List>
    </Section>
  )
}

/** The form of the thresholds; an empty field means no alert. */
function ThresholdsForm({ firstUsd, secondUsd }: AccountSettings) {
  const form = useForm({
    initialValues: { firstUsd: firstUsd ?? '', secondUsd: secondUsd ?? '' },
  })
  const submission = useSubmission(form, async (fields) => {
    const usd = (text: string) => text.trim() || null
    const body = { firstUsd: usd(fields.firstUsd), secondUsd: usd(fields.secondUsd) }
    const { isBelow } = await shownAfter(perform('PATCH /alerts', body))
    form.resetDirty(fields)
    notifyDone(
      isBelow ? 'The alerts were saved. Your credit is below one already: it is sent now.' : 'The alerts were saved.',
    )
  })
  return (
    <PlainForm submission={submission} action="Save" button={{ disabled: !form.isDirty() }} maw={FORM_WIDTH}>
      <TextInput
        label="Low credit, in USD"
        description="Empty for no alert"
        inputMode="decimal"
        maxLength={20}
        {...form.getInputProps('firstUsd')}
      />
      <TextInput
        label="Very low credit, in USD"
        description="Lower than the one above; empty for no alert"
        inputMode="decimal"
        maxLength={20}
        {...form.getInputProps('secondUsd')}
      />
    </PlainForm>
  )
}

type Address = AccountSettings['addresses'][number]

function AlertAddresses({ addresses, mayChange }: { addresses: readonly Address[]; mayChange: boolean }) {
  return (
    <Section
      title="Further addresses"
      description="They get the alerts of the account, like its owners and billing members, once someone has opened the mailed link and confirmed."
    >
      <Stack gap="md">
        {addresses.length === 0 && <Text size="sm">Nobody else gets them.</Text>}
        {addresses.map((address) => (
          <AddressRow key={address.email} address={address} mayChange={mayChange} />
        ))}
        {mayChange && addresses.length < MAX_ALERT_ADDRESSES && <AddForm />}
        {mayChange && addresses.length >= MAX_ALERT_ADDRESSES && (
          <Text size="sm">These are all that an account can have. Remove one to add another.</Text>
        )}
      </Stack>
    </Section>
  )
}

function AddressRow({ address: { email, isConfirmed }, mayChange }: { address: Address; mayChange: boolean }) {
  return (
    <Group gap="sm" role="group" aria-label={email}>
      <Text size="sm" className="wrap-anywhere">
        {email}
      </Text>
      <Badge variant="light" color={isConfirmed ? 'green' : 'yellow'}>
        {isConfirmed ? 'Confirmed' : 'Waits for confirmation'}
      </Badge>
      {mayChange && (
        <Group gap="xs">
          {!isConfirmed && (
            <Button size="xs" variant="default" onClick={() => void sendAgain(email).catch(notifyError)}>
              Send again
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => askToRemove(email)}>
            Remove
          </Button>
        </Group>
      )}
    </Group>
  )
}

async function sendAgain(email: string): Promise<void> {
  await shownAfter(perform('POST /alerts/addresses/ask-again', { email }))
  notifyDone(`Another mail is on its way to ${email}. The link of before is void.`)
}

function askToRemove(email: string): void {
  confirm({
    title: 'Remove the address?',
    body: `${email} gets no more alerts of this account.`,
    action: 'Remove',
    async run() {
      await shownAfter(perform('POST /alerts/addresses/remove', { email }))
      notifyDone('The address was removed.')
    },
  })
}

function AddForm() {
  const form = useForm({ initialValues: { email: '' }, validate: { email: checkEmail } })
  const submission = useSubmission(form, async ({ email }) => {
    await shownAfter(perform('POST /alerts/addresses', { email: email.trim() }))
    form.reset()
    notifyDone(`A link is on its way to ${email.trim()}.`)
  })
  return (
    <PlainForm submission={submission} action="Add the address" maw={FORM_WIDTH}>
      <TextInput
        label="Another address"
        description="It gets a mail with a link to confirm, and nothing else before that"
        type="email"
        autoComplete="off"
        maxLength={254}
        {...form.getInputProps('email')}
      />
    </PlainForm>
  )
}
