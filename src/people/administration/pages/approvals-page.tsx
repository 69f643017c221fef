/** The page of approvals: requests of administrators to which another administrator must agree. */
import { Anchor, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { IconChecks } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Paged } from '@/dashboard/components/lists/paged'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Status } from '@/dashboard/components/status'
import { formatMoney } from '@/dashboard/format'
import { administer } from '@/people/client'
import { type Approval, useApprovals } from './admin-data'
import { Facts } from './facts'
import { openReasonDialog } from './reason-dialog'
import { APPROVAL_WORDS, KIND_WORDS } from './words'

const VIEWS = [
  { value: 'pending', label: 'Pending' },
  { value: 'all', label: 'All' },
]

export function AdminApprovalsPage() {
  const [view, setView] = useState('pending')
  const approvals = useApprovals(view === 'pending' ? 'pending' : '')
  const limit = approvals.data?.pages[0]?.approvalLimit
  return (
    <Page
      title="Approvals"
      description={
        limit === undefined
          ? 'Large amounts need two administrators.'
          : `More than ${formatMoney(limit)} by one administrator in 24 hours needs two, and so does any amount for one's own account.`
      }
      actions={<SegmentedControl data={VIEWS} value={view} onChange={setView} aria-label="Which approvals" />}
    >
      <List approvals={approvals} isPending={view === 'pending'} />
    </Page>
  )
}

type ListProps = { approvals: ReturnType<typeof useApprovals>; isPending: boolean }

function List({ approvals, isPending }: ListProps) {
  const empty = (
    <Section>
      <EmptyState icon={IconChecks} title={isPending ? 'Nothing waits for approval' : 'No approvals yet'}>
        What an administrator asks for above the limit waits here for another one.
      </EmptyState>
    </Section>
  )
  return (
    <Paged query={approvals} empty={empty}>
      {(items) => (
        <Stack gap="md">
          {items.map((approval) => (
            <Card key={approval.approvalId} approval={approval} />
          ))}
        </Stack>
      )}
    </Paged>
  )
}

function Card({ approval }: { approval: Approval }) {
  const { label, tone } = APPROVAL_WORDS[approval.status]
  return (
    <Section>
      <Group justify="space-between" align="flex-start" mb="sm">
        <Stack gap={2}>
          <Title order={2} size="h4">
            {KIND_WORDS[approval.kind]}
          </Title>
          <Text fz={22} fw={650} component="div">
            <Money usd={approval.amount} isExact />
          </Text>
        </Stack>
        <Status tone={tone}>{label}</Status>
      </Group>
      <Facts
        facts={[
          ['Account', <Account account={approval.account} key="account" />],
          ['Reason', approval.reason],
          ...approval.facts.filter(({ value }) => value !== '').map(({ name, value }) => [name, value] as const),
          [
            'Requested',
            <span key="asked">
              <Moment at={approval.requestedAt} /> by {approval.isOwn ? 'you' : approval.requestedBy.email}
            </span>,
          ],
          ...(approval.status === 'pending'
            ? [['Expires', <Moment at={approval.expiresAt} isRelative key="expires" />] as const]
            : [['Decided', <Decided approval={approval} key="decided" />] as const]),
        ]}
      />
      {approval.status === 'pending' && <Actions approval={approval} />}
    </Section>
  )
}

function Account({ account }: { account: Approval['account'] }) {
  if (!account) return <>None</>
  return (
    <Anchor component={Link} href={`/admin/accounts/${account.accountId}`} size="sm">
      {account.name} ({account.email})
    </Anchor>
  )
}

function Decided({ approval }: { approval: Approval }) {
  return (
    <>
      {approval.decidedAt !== null && <Moment at={approval.decidedAt} />}
      {approval.decidedBy && ` by ${approval.decidedBy.email}`}
      {approval.note !== null && `: ${approval.note}`}
    </>
  )
}

function Actions({ approval }: { approval: Approval }) {
  if (approval.isOwn) {
    return (
      <Group mt="md" gap="sm" justify="space-between">
        <Text size="sm" c="dimmed" style={{ flex: '1 1 200px' }}>
          You asked for this: another administrator decides.
        </Text>
        <Button variant="default" onClick={() => decide(approval, 'withdraw')}>
          Withdraw
        </Button>
      </Group>
    )
  }
  return (
    <Group mt="md" gap="sm" justify="flex-end">
      <Button variant="default" onClick={() => decide(approval, 'reject')}>
        Reject
      </Button>
      <Button variant="light" onClick={() => decide(approval, 'approve')}>
        Approve
      </Button>
    </Group>
  )
}

const DECISIONS = {
  approve: { verb: 'Approve', done: 'Approved and done.', body: 'It is done at once, exactly as shown.' },
  reject: { verb: 'Reject', done: 'Rejected.', body: 'Nothing will happen. It can be asked for again.' },
  withdraw: { verb: 'Withdraw', done: 'Withdrawn.', body: 'Nothing will happen. It can be asked for again.' },
} as const

function decide(approval: Approval, decision: keyof typeof DECISIONS): void {
  const { verb, done, body } = DECISIONS[decision]
  const { approvalId } = approval
  openReasonDialog({
    title: `${verb}: ${KIND_WORDS[approval.kind].toLowerCase()}`,
    body: `${formatMoney(approval.amount, { isExact: true })} for ${approval.account?.name ?? 'no account'}. ${body}`,
    action: verb,
    label: 'Note (optional)',
    isOptional: true,
    isDestructive: decision === 'reject',
    done,
    run: (note) => administer(`POST /approvals/:approvalId/${decision}`, { approvalId, note }),
  })
}
