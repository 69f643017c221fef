/** One account for administrators: balance, people, keys, orders, entries and actions. */
import { Anchor, Button, NumberInput, SimpleGrid, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { Link, useParams } from 'wouter'
import { DialogForm, isReason, ReasonField } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { notifyDone } from '@/dashboard/components/notify'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { formatCount, formatMoney } from '@/dashboard/format'
import { administer } from '@/people/client'
import { KEY_FIELDS } from '@/people/keys/fields'
import { AccountLists } from './account-lists'
import { type AccountView, adminChanged, useAccount } from './admin-data'
import { Facts } from './facts'
import { openMoneyDialog } from './money-dialog'
import { openReasonDialog } from './reason-dialog'
import { ACCOUNT_WORDS } from './words'

export function AdminAccountPage() {
  const { accountId = '' } = useParams<{ accountId: string }>()
  const account = useAccount(accountId)
  const { data } = account
  return (
    <Page
      title={data?.name ?? 'Account'}
      description={
        <span className="wrap-anywhere">
          <Anchor component={Link} href="/admin/accounts" underline="always">
            Accounts
          </Anchor>{' '}
          / {data?.email ?? accountId}
        </span>
      }
      actions={data && <Actions account={data} />}
    >
      <Loaded query={account}>{(loaded) => <Details account={loaded} />}</Loaded>
    </Page>
  )
}

function Actions({ account }: { account: AccountView }) {
  return (
    <>
      <Button variant="default" component={Link} href={`/admin/accounts/${account.accountId}/statement`}>
        Statement
      </Button>
      <Button variant="default" component={Link} href={`/admin/accounts/${account.accountId}/requests`}>
        Requests
      </Button>
      <Button variant="default" component={Link} href={`/admin/accounts/${account.accountId}/failures`}>
        Failed requests
      </Button>
      <Button variant="default" onClick={() => openStatusDialog(account)}>
        {account.status === 'active' ? 'Suspend' : 'Activate'}
      </Button>
      <Button variant="default" onClick={() => openLimitsDialog(account)}>
        Change limits
      </Button>
      <Button onClick={() => adjust(account)}>Adjust credit</Button>
    </>
  )
}

function adjust(account: AccountView): void {
  openMoneyDialog({
    title: 'Adjust credit',
    body: `Changes the balance of ${account.name}. More than ${formatMoney(account.approvalLimit)} in 24 hours needs a second administrator.`,
    action: 'Adjust credit',
    amount: { label: 'Amount', description: 'In USD. A minus takes credit back: -12.50.', initial: '' },
    asksNegative: true,
    done: 'The credit was adjusted.',
    run: (values) => administer('POST /accounts/:accountId/adjustments', { accountId: account.accountId, ...values }),
  })
}

/** The limits of all keys of the account together, as text. */
function limitsText({ limits, defaultLimits }: AccountView): string {
  const text = (name: keyof typeof limits, unit: string) =>
    `${formatCount(limits[name] ?? defaultLimits[name])} ${unit}${limits[name] === null ? ' (standard)' : ''}`
  const words = [text('requestsPerMinute', 'requests a minute'), text('tokensPerMinute', 'tokens a minute')]
  return [...words, text('concurrency', 'requests at once')].join(', ')
}

function Details({ account }: { account: AccountView }) {
  const { balance } = account
  const { label, tone } = ACCOUNT_WORDS[account.status]
  const amount = (usd: string | undefined) => (usd === undefined ? 'Unknown' : <Money usd={usd} />)
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
        <Stat
          label="Available"
          value={amount(balance?.available)}
          hint={balance ? 'Now' : 'The ledger does not answer'}
        />
        <Stat label="Held" value={amount(balance?.held)} hint="By requests under way" />
        <Stat label="Spent this month" value={amount(balance?.spentThisMonth)} />
        <Stat label="Spent in all" value={amount(balance?.spent)} />
      </SimpleGrid>
      <Section title="Account">
        <Facts
          facts={[
            [
              'Status',
              <Status tone={tone} key="status">
                {label}
              </Status>,
            ],
            ['E-mail', account.email],
            ['Limits', limitsText(account)],
            ['Created', <Moment at={account.createdAt} key="created" />],
            ['Id', account.accountId],
          ]}
        />
      </Section>
      <AccountLists account={account} />
    </>
  )
}

function openStatusDialog({ accountId, name, status }: AccountView): void {
  const isActive = status === 'active'
  openReasonDialog({
    title: isActive ? 'Suspend account' : 'Activate account',
    body: isActive
      ? `From now on every request of ${name} is refused, on every gateway. Answers that have begun are finished.`
      : `The requests of ${name} are served again.`,
    action: isActive ? 'Suspend account' : 'Activate account',
    label: 'Reason',
    isDestructive: isActive,
    done: isActive ? 'The account is suspended.' : 'The account is active.',
    run: (reason) =>
      administer('POST /accounts/:accountId/status', { accountId, status: isActive ? 'suspended' : 'active', reason }),
  })
}

function openLimitsDialog(account: AccountView): void {
  const close = () => modals.close(id)
  const id = modals.open({
    title: 'Change limits',
    centered: true,
    children: <Content account={account} close={close} />,
  })
}

function Content({ account, close }: { account: AccountView; close(): void }) {
  const { limits, defaultLimits } = account
  const form = useForm<{ [name in keyof typeof limits]: number | '' } & { reason: string }>({
    initialValues: {
      requestsPerMinute: limits.requestsPerMinute ?? '',
      tokensPerMinute: limits.tokensPerMinute ?? '',
      concurrency: limits.concurrency ?? '',
      reason: '',
    },
    validate: { reason: (text) => (isReason(text) ? null : 'Say why.') },
  })
  const submission = useSubmission(form, async ({ reason, ...counts }) => {
    const values = {
      requestsPerMinute: counts.requestsPerMinute || null,
      tokensPerMinute: counts.tokensPerMinute || null,
      concurrency: counts.concurrency || null,
    }
    const { accountId } = account
    await administer('POST /accounts/:accountId/limits', { accountId, ...values, reason: reason.trim() })
    await adminChanged()
    close()
    notifyDone('The limits were changed.')
  })
  const field = (name: keyof typeof limits) => ({
    min: 1,
    allowDecimal: false,
    thousandSeparator: ',',
    hideControls: true,
    placeholder: `${formatCount(defaultLimits[name])} (standard)`,
    ...form.getInputProps(name),
  })
  return (
    <DialogForm
      {...{ submission, action: 'Change limits' }}
      cancel={close}
      lead={
        <Text size="sm">
          They hold for all keys of {account.name} together, and no key can have more. Left empty, the standard holds.
        </Text>
      }
    >
      <NumberInput label={KEY_FIELDS.requestsPerMinute.label} {...field('requestsPerMinute')} />
      <NumberInput label={KEY_FIELDS.tokensPerMinute.label} {...field('tokensPerMinute')} />
      <NumberInput label={KEY_FIELDS.concurrency.label} {...field('concurrency')} />
      <ReasonField {...form.getInputProps('reason')} />
    </DialogForm>
  )
}
