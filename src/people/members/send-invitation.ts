/** Sends invitations by mail, in the name of the requesting person or of the maker of the management key. */
import type { MailDesk } from '@/accounts/mails/outbox'
import { GatewayError } from '@/chat/error'
import { invitationsTo, resendsOf } from '@/console/auth/limits'
import { linkFor } from '@/console/auth/visitor'
import type { Transaction } from '@/db/client'
import type { OperationCaller } from '@/people/operation'
import type { SessionDeps } from '@/people/sign-in/visitor'
import { INVITATION_DAYS, type ListedInvitation, type SentInvitation } from './invitations'
import type { Members } from './members'
import { refused } from './refusals'

export type InvitingDeps = SessionDeps & { members: Members }

type Inviting = OperationCaller & { deps: InvitingDeps }

/** Invites an address. */
export async function sendMail(context: Inviting, invited: Pick<ListedInvitation, 'email' | 'role'>) {
  const mails = requireMails(context.deps)
  return sent(mails, await context.deps.members.invitations.send(invitingBy(context, mails), invited))
}

/** Sends an invitation again, with another link. */
export async function resendMail(context: Inviting, invitationId: string) {
  const { deps, viewer } = context
  const mails = requireMails(deps)
  await deps.auth.parts.throttle.attempt(resendsOf(`${viewer.accountId} ${invitationId}`))
  return sent(mails, await deps.members.invitations.resend(invitingBy(context, mails), invitationId))
}

function requireMails({ auth }: InvitingDeps): MailDesk {
  const { mails } = auth.parts
  if (mails) return mails
  throw new GatewayError('forbidden', 'This service sends no mail. Ask its operator to add the member.', {
    code: 'mail_not_configured',
  })
}

/** The inviting person and the invitation's mail, which counts against the recipient's limit. A refused invitation sends no mail. */
function invitingBy(context: Inviting, mails: MailDesk) {
  const { deps, viewer, request, by } = context
  const { accountId, userId, email: sender } = viewer
  const { auth } = deps
  return {
    accountId,
    by: { ...by, actor: { userId, email: sender } },
    async tell(transaction: Transaction, { token, email, role, accountName }: SentInvitation) {
      const facts = { accountName, invitedBy: viewer.name, role, days: INVITATION_DAYS }
      await auth.parts.throttle.attempt(invitationsTo(email))
      await mails.post(transaction, email, { kind: 'invitation', facts }, { ...linkFor({ request }, token), accountId })
    },
  }
}

function sent(mails: MailDesk, outcome: Awaited<ReturnType<Members['invitations']['send']>>) {
  if (outcome.kind !== 'sent') throw refused(outcome)
  mails.hurry()
  return { invitationId: outcome.invitation.invitationId }
}
