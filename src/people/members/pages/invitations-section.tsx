/** Invitations on the members page: a form, and the list of unanswered ones. */
import { Box, Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { confirm } from '@/dashboard/components/confirm'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { InviteForm } from './invite-form'
import { type InvitationItem, resend, revoke, useInvitations } from './members-data'
import { ROLE_WORDS } from './words'

export function InvitationsSection() {
  const invitations = useInvitations()
  return (
    <Section title="Invite somebody" description="They get a mail with a link that works once, for 7 days.">
      <Stack gap="lg">
        <InviteForm />
        <Loaded query={invitations}>
          {({ items }) =>
            items.length === 0 ? (
              <Text size="sm" c="dimmed">
                No invitation is waiting for an answer.
              </Text>
            ) : (
              <Rows gap="sm">
                {items.map((item) => (
                  <InvitationRow key={item.invitationId} item={item} />
                ))}
              </Rows>
            )
          }
        </Loaded>
      </Stack>
    </Section>
  )
}

function InvitationRow({ item }: { item: InvitationItem }) {
  const { email, role, invitedBy, isExpired, expiresAt } = item
  return (
    <Group component="li" justify="space-between" gap="sm">
      <Box style={{ flex: '1 1 220px' }}>
        <Text size="sm" fw={600} className="wrap-anywhere">
          {email}
        </Text>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {ROLE_WORDS[role].label}, invited by {invitedBy}, {isExpired ? 'expired' : 'valid until'}{' '}
          <Moment at={expiresAt} />
        </Text>
      </Box>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => void sendAgain(item)}>
          Send again<VisuallyHidden> to {email}</VisuallyHidden>
        </Button>
        <Button size="xs" variant="default" onClick={() => askToRevoke(item)}>
          Revoke<VisuallyHidden> the invitation of {email}</VisuallyHidden>
        </Button>
      </Group>
    </Group>
  )
}

async function sendAgain(item: InvitationItem): Promise<void> {
  try {
    await resend(item)
    notifyDone(`Another mail is on its way to ${item.email}. The link of before is void.`)
  } catch (error) {
    notifyError(error)
  }
}

function askToRevoke(item: InvitationItem): void {
  confirm({
    title: 'Revoke this invitation?',
    body: `The link in the mail to ${item.email} stops working.`,
    action: 'Revoke invitation',
    async run() {
      await revoke(item)
      notifyDone('The invitation is revoked.')
    },
  })
}
