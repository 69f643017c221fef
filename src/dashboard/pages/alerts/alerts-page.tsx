/** The alerts page: the person's choice of mails, and the account's alert settings. */
import { Alert, List, Stack, Switch, Text } from '@mantine/core'
import { useMay } from '@/dashboard/account'
import { notifyError } from '@/dashboard/components/notify'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatMoney } from '@/dashboard/format'
import { AlertAddresses } from './alert-addresses'
import { type AlertKind, type AlertsBody, chooseMails, type ScheduledKind, useAlerts } from './alerts-data'
import { AlertsForm } from './alerts-form'

const KINDS: readonly { kind: AlertKind; label: string; all: string; own: string }[] = [
  {
    kind: 'balance',
    label: 'Low credit',
    all: 'When the credit falls below a threshold, and when it is used up.',
    own: 'For owners and billing.',
  },
  {
    kind: 'budget',
    label: 'Budgets',
    all: 'When 50, 80 and 100 % of a budget are spent, once in each of its windows.',
    own: 'When 50, 80 and 100 % of your budget, or of that of a key of yours, are spent.',
  },
  {
    kind: 'spend',
    label: 'Unusual spend',
    all: 'When more than three times as much is spent on a day as on a usual one.',
    own: 'For owners and billing.',
  },
  {
    kind: 'key_expiry',
    label: 'Keys that expire',
    all: 'Seven days and one day before an API key ends, and before the former text of a rotated one does that is still used.',
    own: 'Seven days and one day before an API key of yours ends, and before its former text does that is still used.',
  },
]

const SCHEDULED: readonly { kind: ScheduledKind; label: string; description: string }[] = [
  {
    kind: 'digest_weekly',
    label: 'Usage of the week',
    description: 'On Monday: requests, cost, and what cost the most.',
  },
  { kind: 'digest_monthly', label: 'Usage of the month', description: 'The same on the first of the month.' },
  { kind: 'export_daily', label: 'Records of each day', description: 'A link to each day’s export.' },
  { kind: 'export_weekly', label: 'Records of each week', description: 'A link to the export, on Monday.' },
  { kind: 'export_monthly', label: 'Records of each month', description: 'A link to the export, on the first.' },
]

export function AlertsPage() {
  return (
    <Page
      title="Alerts"
      description="Mails about credit, budgets, keys and usage. Each has a link that turns off its kind."
    >
      <Loaded query={useAlerts()}>
        {(alerts) => (
          <>
            {!alerts.isMailPossible && (
              <Alert color="yellow" title="No mails are sent here">
                The operator of this service has set up no mail. What you set holds once there is.
              </Alert>
            )}
            <OwnMails alerts={alerts} />
            <ScheduledMails alerts={alerts} />
            <AccountAlerts alerts={alerts} />
            <AlwaysSent />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Disabling the switch during the request would take the focus away, so it stays enabled. */
function choose(kind: AlertKind | ScheduledKind, isWanted: boolean): void {
  void chooseMails(kind, isWanted).catch(notifyError)
}

function ScheduledMails({ alerts: { scheduled } }: { alerts: AlertsBody }) {
  return (
    <Section title="Scheduled mails" description="Of the usage that you may see. None is sent of a time without any.">
      <Stack gap="md">
        {SCHEDULED.map(({ kind, label, description }) => (
          <Switch
            key={kind}
            label={label}
            description={description}
            checked={scheduled[kind]}
            onChange={(event) => choose(kind, event.currentTarget.checked)}
          />
        ))}
      </Stack>
    </Section>
  )
}

function OwnMails({ alerts: { email, own, getsAll } }: { alerts: AlertsBody }) {
  return (
    <Section title="Your mails" description={<span className="wrap-anywhere">To {email}, for this account.</span>}>
      <Stack gap="md">
        {KINDS.filter(({ kind }) => getsAll || kind === 'budget' || kind === 'key_expiry').map((one) => (
          <Switch
            key={one.kind}
            label={one.label}
            description={getsAll ? one.all : one.own}
            checked={own[one.kind]}
            onChange={(event) => choose(one.kind, event.currentTarget.checked)}
          />
        ))}
      </Stack>
    </Section>
  )
}

function AccountAlerts({ alerts: { account } }: { alerts: AlertsBody }) {
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
          <AlertsForm account={account} />
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
