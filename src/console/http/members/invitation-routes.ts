/** Routes of invitations: sending and managing them for members, answering them for the invited person. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { MailDesk } from '@/accounts/mails/outbox'
import {
  INVITATION_DAYS,
  type ListedInvitation,
  MAX_A_DAY,
  MAX_PENDING,
  type SentInvitation,
} from '@/accounts/members/invitations'
import type { Members } from '@/accounts/members/members'
import { GatewayError } from '@/chat/error'
import { invitationsTo, resendsOf } from '@/console/auth/limits'
import { linkFor } from '@/console/auth/visitor'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { newestFirst, PageQuery, pageOf } from '@/console/http/pages'
import type { SessionDeps } from '@/console/http/session/context'
import { Done, Email, Token } from '@/console/http/session/schemas'
import { exactly, isoMoments, listOf, mapPage, NoFields } from '@/console/http/wire'
import type { Transaction } from '@/db/client'
import type { PageRequest } from '@/db/paging'
import { titled } from '@/http/openapi/titled'
import { Role, refusalOf } from './member-words'

export type InvitationRouteDeps = SessionDeps & { members: Members }

const InvitationParams = Type.Object({
  ...IN_ACCOUNT,
  invitationId: Type.String({ minLength: 1, maxLength: 64, pattern: '^\\w+$' }),
})

const InvitationBody = titled('Invitation', {
  invitationId: Type.String(),
  email: Type.String(),
  role: Role,
  invitedBy: Type.String({ description: 'The name of the last sender' }),
  isExpired: Type.Boolean(),
  createdAt: Type.String({ description: 'ISO 8601' }),
  expiresAt: Type.String({ description: 'ISO 8601' }),
})

const InvitationList = listOf(InvitationBody, { description: 'Unanswered invitations, newest first' })

const Sent = Type.Object({ invitationId: Type.String() })

const Offer = Type.Object({
  accountName: Type.String(),
  role: Role,
  invitedBy: Type.String({ description: 'The name of the sender' }),
})

export function invitationRoutes(deps: InvitationRouteDeps) {
  return new Elysia({ name: 'invitation-routes' }).use(accountRoutes(deps)).use(answerRoutes(deps))
}

function accountRoutes(deps: InvitationRouteDeps) {
  const { invitations } = deps.members
  return guarded(deps, 'account-invitation-routes', `${ACCOUNT_PREFIX}/invitations`)
    .get('', ({ viewer, query }) => list(deps, viewer.accountId, query), {
      may: 'members.change',
      query: PageQuery,
      response: InvitationList,
      detail: { summary: 'List open invitations', description: 'Nobody has accepted, declined or revoked these.' },
    })
    .post('', (caller) => send(deps, caller, caller.body), {
      may: 'members.change',
      body: exactly({ email: Email, role: Role }),
      response: Sent,
      detail: {
        summary: 'Invite somebody by mail',
        description:
          `Up to one’s own role. The link is valid for ${INVITATION_DAYS} days, once, and for this address alone; an invitation that was open for it is revoked. ` +
          `At most ${MAX_PENDING} are open at once, and ${MAX_A_DAY} sent in 24 hours (409). The answer is the same whether or not somebody has signed up with the address.`,
      },
    })
    .post('/:invitationId/resend', (caller) => resend(deps, caller, caller.params.invitationId), {
      may: 'members.change',
      params: InvitationParams,
      body: NoFields,
      response: Sent,
      detail: {
        summary: 'Send an invitation again',
        description: `With a new link, valid for ${INVITATION_DAYS} days; the old one is void. Three times an hour.`,
      },
    })
    .post(
      '/:invitationId/revoke',
      async ({ viewer: { accountId }, by, params }) => {
        const outcome = await invitations.revoke({ accountId, by }, params.invitationId)
        if (outcome.kind !== 'done') throw refusalOf(outcome)
        return { done: true as const }
      },
      {
        may: 'members.change',
        params: InvitationParams,
        body: NoFields,
        response: Done,
        detail: { summary: 'Revoke an invitation', description: 'Its link is void at once.' },
      },
    )
}

function answerRoutes(deps: InvitationRouteDeps) {
  const { invitations } = deps.members
  const body = exactly({ token: Token })
  return guarded(deps, 'answer-invitation-routes', '/dashboard/api/invitations')
    .post(
      '/show',
      async ({ by, body: { token } }) => {
        const outcome = await invitations.read({ token, by })
        if (outcome.kind !== 'open') throw refusalOf(outcome)
        const { accountName, role, invitedBy } = outcome.invitation
        return { accountName, role, invitedBy }
      },
      {
        signedIn: true,
        body,
        response: Offer,
        detail: { summary: 'Look at an invitation', description: ANSWERED },
      },
    )
    .post(
      '/accept',
      async ({ by, body: { token } }) => {
        const outcome = await invitations.accept({ token, by })
        if (outcome.kind !== 'accepted') throw refusalOf(outcome)
        return { accountId: outcome.accountId }
      },
      {
        signedIn: true,
        body,
        response: Type.Object({ accountId: Type.String() }),
        detail: { summary: 'Accept an invitation', description: `Makes one a member. ${ANSWERED}` },
      },
    )
    .post(
      '/decline',
      async ({ by, body: { token } }) => {
        const outcome = await invitations.decline({ token, by })
        if (outcome.kind !== 'declined') throw refusalOf(outcome)
        return { done: true as const }
      },
      {
        signedIn: true,
        body,
        response: Done,
        detail: { summary: 'Decline an invitation', description: `Its link is void. ${ANSWERED}` },
      },
    )
}

const ANSWERED =
  'With the token of the mail, as the person whose confirmed address it was sent to (403 `email_not_verified`). 410 `invitation_invalid` ' +
  'for one that is expired, used, revoked, for somebody else, or for a role that its sender may not give now.'

async function list({ members }: InvitationRouteDeps, accountId: string, query: PageRequest) {
  const open = await members.invitations.list(accountId)
  const page = pageOf(open, query, ({ expiresAt, invitationId }) => newestFirst(expiresAt, invitationId))
  return mapPage(page, isoMoments)
}

async function send(
  deps: InvitationRouteDeps,
  caller: Caller,
  { email, role }: { email: string; role: ListedInvitation['role'] },
) {
  const mails = requireMails(deps)
  return sent(mails, await deps.members.invitations.send(inviting(deps, mails, caller), { email, role }))
}

async function resend(deps: InvitationRouteDeps, caller: Caller, invitationId: string) {
  const mails = requireMails(deps)
  await deps.auth.parts.throttle.attempt(resendsOf(`${caller.viewer.accountId} ${invitationId}`))
  const outcome = await deps.members.invitations.resend(inviting(deps, mails, caller), invitationId)
  return sent(mails, outcome)
}

function requireMails({ auth }: InvitationRouteDeps): MailDesk {
  const { mails } = auth.parts
  if (mails) return mails
  throw new GatewayError('forbidden', 'This service sends no mail. Ask its operator to add the member.', {
    code: 'mail_not_configured',
  })
}

/** The inviting person and the invitation's mail, which counts against the recipient's limit. A refused invitation sends no mail. */
function inviting({ auth }: InvitationRouteDeps, mails: MailDesk, { viewer, request, by }: Caller) {
  return {
    accountId: viewer.accountId,
    by,
    async tell(transaction: Transaction, { token, email, role, accountName }: SentInvitation) {
      const facts = { accountName, invitedBy: viewer.name, role, days: INVITATION_DAYS }
      const { accountId } = viewer
      await auth.parts.throttle.attempt(invitationsTo(email))
      await mails.post(transaction, email, { kind: 'invitation', facts }, { ...linkFor({ request }, token), accountId })
    },
  }
}

function sent(mails: MailDesk, outcome: Awaited<ReturnType<Members['invitations']['send']>>) {
  if (outcome.kind !== 'sent') throw refusalOf(outcome)
  mails.hurry()
  return { invitationId: outcome.invitation.invitationId }
}
