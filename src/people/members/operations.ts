/** The operations on members of an account, on invitations to it, and on becoming an organisation that has them. */
import { Type } from '@sinclair/typebox'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError } from '@/chat/error'
import { notPermitted } from '@/console/http/guard'
import { newestFirst, PageQuery, pageOf, placeOfMember } from '@/console/http/pages'
import { exactly, isoMoments, mapPage } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { MAX_KEY_BODY_BYTES, RULES_TAKEN, SHOWN_RULES } from '@/people/keys/bodies'
import { operationsOver, personalOver } from '@/people/operation'
import { Done, Email, Token } from '@/people/sign-in/schemas'
import { MAX_MEMBERS } from './admission'
import * as bodies from './bodies'
import * as commands from './commands'
import { INVITATION_DAYS, MAX_A_DAY, MAX_PENDING } from './invitations'
import { choosePolicy, type MemberPolicyDeps, showPolicy } from './key-rules'
import { refused } from './refusals'
import { type InvitingDeps, resendMail, sendMail } from './send-invitation'

export type MemberDeps = InvitingDeps & MemberPolicyDeps

const operation = operationsOver<MemberDeps>()
const answer = personalOver<MemberDeps>()

const { MEMBER_NAMES, INVITATION_NAMES } = bodies

const list = operation('member.list', 'GET /members', 'members.read', 'members:read', {
  summary: 'List members',
  description: 'Who may do what in the account.',
  takes: PageQuery,
  gives: bodies.MemberList,
  commands: [commands.LIST_COMMAND],
  async run({ deps: { members }, viewer: { accountId, userId } }, query) {
    const [account, all] = await Promise.all([members.findKind(accountId), members.list(accountId)])
    if (!account) throw new GatewayError('not_found', 'There is no such account.')
    return {
      ...{ kind: account.kind, company: account.company, maxMembers: MAX_MEMBERS },
      ...mapPage(pageOf(all, query, placeOfMember), (member) => bodies.memberBody(member, userId)),
    }
  },
})

const show = operation('member.show', 'GET /members/:userId', 'members.read', 'members:read', {
  summary: 'Get a member',
  description: 'Each member’s role and number of keys.',
  names: MEMBER_NAMES,
  gives: bodies.MemberBody,
  run: async (context) => bodies.memberBody(await findMember(context), context.viewer.userId),
})

const credentials = operation(
  'member.credentials',
  'GET /members/:userId/credentials',
  'members.read',
  'members:read',
  {
    summary: 'List keys and invitations of a member',
    description: 'Keys that work, and open invitations: one’s own, or another’s by those who change members.',
    names: MEMBER_NAMES,
    gives: Type.Object({ items: Type.Array(bodies.CredentialBody) }),
    async run(context) {
      const { userId } = await findMember(context)
      const { accountId, accountRole, managementKeyId, userId: viewerId } = context.viewer
      const isOneself = managementKeyId === undefined && viewerId === userId
      if (!isOneself && !mayDo(accountRole, 'members.change')) throw notPermitted()
      return { items: await context.deps.members.credentials(accountId, userId) }
    },
  },
)

const change = operation('member.change_role', 'PATCH /members/:userId', 'members.change', 'members:write', {
  summary: 'Change the role of a member',
  description:
    'Up to one’s own role; owners are changed by owners alone, and one’s own role only goes down (403 otherwise). The last owner ' +
    'stays one (409 `last_owner`). What they have made and the new role may not hold is revoked; with `credentials: keep`, keys stay.',
  names: MEMBER_NAMES,
  takes: exactly({ role: bodies.Role, credentials: Type.Optional(bodies.FateOfCredentials) }),
  gives: Type.Object({ role: bodies.Role, revoked: bodies.Revoked }),
  commands: [commands.SET_COMMAND],
  async run({ deps, viewer: { accountId }, by, params: { userId } }, { role, credentials: fate }) {
    const outcome = await deps.members.changeRole({ accountId, userId, by }, role, fate ?? 'revoke')
    if (outcome.kind !== 'done') throw refused(outcome)
    return { role, revoked: outcome.revoked }
  },
})

const remove = operation('member.remove', 'DELETE /members/:userId', 'members.read', 'members:write', {
  summary: 'Remove a member, or leave',
  description:
    'With the next request nothing of the account exists for them. Their API keys are deactivated, their management keys and open ' +
    'invitations revoked; `credentials=keep` keeps management keys. History stays under their name.',
  names: MEMBER_NAMES,
  takes: Type.Object({ credentials: Type.Optional(bodies.FateOfCredentials) }),
  gives: Type.Object({ removed: Type.Literal(true), revoked: bodies.Revoked }),
  async run({ deps, viewer: { accountId }, by, params: { userId } }, { credentials: fate }) {
    const outcome = await deps.members.remove({ accountId, userId, by }, fate ?? 'revoke')
    if (outcome.kind !== 'done') throw refused(outcome)
    return { removed: true as const, revoked: outcome.revoked }
  },
})

const found = operation('account.make_organisation', 'POST /organisation', 'account.change', undefined, {
  summary: 'Make the account an organisation',
  description: 'For good. Balance, keys and history stay; more people can be members.',
  takes: bodies.NewCompany,
  gives: bodies.Company,
  commands: [commands.ORGANISATION_COMMAND],
  async run({ deps, viewer, by }, body) {
    const company = bodies.companyOf(body)
    const { kind } = await deps.members.makeOrganisation(viewer.accountId, company, by)
    if (kind !== 'done') throw refused({ kind: 'organisation_already' })
    return company
  },
})

const changeCompany = operation('account.company', 'PUT /organisation', 'account.change', undefined, {
  summary: 'Change the legal data of the organisation',
  description:
    'Name, country and VAT id, as receipts show them. The account gets the name. 409 for a personal account.',
  takes: bodies.NewCompany,
  gives: bodies.Company,
  async run({ deps, viewer, by }, body) {
    const company = bodies.companyOf(body)
    const { kind } = await deps.members.changeCompany(viewer.accountId, company, by)
    if (kind !== 'done') throw refused({ kind: 'not_organisation' })
    return company
  },
})

export const MEMBER_OPERATIONS = [found, changeCompany, list, show, credentials, change, remove] as const

const invitations = operation('invitation.list', 'GET /invitations', 'members.change', 'members:read', {
  summary: 'List open invitations',
  description: 'Nobody has accepted, declined or revoked these.',
  takes: PageQuery,
  gives: bodies.InvitationList,
  async run({ deps, viewer }, query) {
    const open = await deps.members.invitations.list(viewer.accountId)
    const page = pageOf(open, query, ({ expiresAt, invitationId }) => newestFirst(expiresAt, invitationId))
    return mapPage(page, isoMoments)
  },
})

const invite = operation('invitation.create', 'POST /invitations', 'members.change', 'members:write', {
  summary: 'Invite somebody by mail',
  description:
    `Up to one’s own role. The link is valid for ${INVITATION_DAYS} days, once, and for this address alone; an invitation that was open for it is revoked. ` +
    `At most ${MAX_PENDING} are open at once, and ${MAX_A_DAY} sent in 24 hours (409). The answer is the same whether or not somebody has signed up with the address.`,
  takes: exactly({ email: Email, role: bodies.Role }),
  gives: bodies.Sent,
  run: sendMail,
})

const resend = operation(
  'invitation.resend',
  'POST /invitations/:invitationId/resend',
  'members.change',
  'members:write',
  {
    summary: 'Send an invitation again',
    description: `With a new link, valid for ${INVITATION_DAYS} days; the old one is void. Three times an hour.`,
    names: INVITATION_NAMES,
    gives: bodies.Sent,
    run: (context) => resendMail(context, context.params.invitationId),
  },
)

const revoke = operation(
  'invitation.revoke',
  'POST /invitations/:invitationId/revoke',
  'members.change',
  'members:write',
  {
    summary: 'Revoke an invitation',
    description: 'Its link is void at once.',
    names: INVITATION_NAMES,
    gives: Done,
    async run({ deps, viewer: { accountId }, by, params: { invitationId } }) {
      const outcome = await deps.members.invitations.revoke({ accountId, by }, invitationId)
      if (outcome.kind !== 'done') throw refused(outcome)
      return { done: true as const }
    },
  },
)

const ANSWERED =
  'With the token of the mail, as the person whose confirmed address it was sent to (403 `email_not_verified`). 410 `invitation_invalid` ' +
  'for one that is expired, used, revoked, for somebody else, or for a role that its sender may not give now.'

const Answer = exactly({ token: Token })

const look = answer('invitation.show', 'POST /invitations/show', {
  summary: 'Look at an invitation',
  description: ANSWERED,
  takes: Answer,
  gives: bodies.Offer,
  async run({ deps, by }, { token }) {
    const outcome = await deps.members.invitations.read({ token, by })
    if (outcome.kind !== 'open') throw refused(outcome)
    const { accountName, role, invitedBy } = outcome.invitation
    return { accountName, role, invitedBy }
  },
})

const accept = answer('member.join', 'POST /invitations/accept', {
  summary: 'Accept an invitation',
  description: `Makes one a member. ${ANSWERED}`,
  takes: Answer,
  gives: Type.Object({ accountId: Type.String() }),
  async run({ deps, by }, { token }) {
    const outcome = await deps.members.invitations.accept({ token, by })
    if (outcome.kind !== 'accepted') throw refused(outcome)
    return { accountId: outcome.accountId }
  },
})

const decline = answer('invitation.decline', 'POST /invitations/decline', {
  summary: 'Decline an invitation',
  description: `Its link is void. ${ANSWERED}`,
  takes: Answer,
  gives: Done,
  async run({ deps, by }, { token }) {
    const outcome = await deps.members.invitations.decline({ token, by })
    if (outcome.kind !== 'declined') throw refused(outcome)
    return { done: true as const }
  },
})

export const INVITATION_OPERATIONS = [invitations, invite, resend, revoke] as const
export const ANSWER_OPERATIONS = [look, accept, decline] as const

const Policy = titled('MemberKeyPolicy', SHOWN_RULES)

const policy = operation('member.key_policy.show', 'GET /members/:userId/key-policy', 'usage.read', 'members:read', {
  summary: "Get the rules for a member's keys",
  description: 'A request needs the permission of these rules and of the account’s rules. Developers see their own.',
  names: MEMBER_NAMES,
  gives: Policy,
  versioned: (given) => given,
  run: showPolicy,
})

const changePolicy = operation(
  'member.key_policy',
  'PUT /members/:userId/key-policy',
  'limits.raise',
  'members:write',
  {
    summary: "Set the rules for a member's keys",
    description:
      'What is left out stays. Holds for their next request, on every gateway, in the playground too, and for keys that they are given ' +
      'later; until they are no member any more.',
    names: MEMBER_NAMES,
    takes: exactly(RULES_TAKEN, { title: 'MemberKeyPolicyChanges', minProperties: 1 }),
    maxBodyBytes: MAX_KEY_BODY_BYTES,
    gives: Policy,
    versioned: (given) => given,
    commands: [commands.POLICY_COMMAND],
    run: choosePolicy,
  },
)

export const MEMBER_POLICY_OPERATIONS = [policy, changePolicy] as const

type OneMember = { deps: MemberDeps; viewer: { accountId: string }; params: { userId: string } }

async function findMember({ deps, viewer, params }: OneMember) {
  const member = (await deps.members.list(viewer.accountId)).find(({ userId }) => userId === params.userId)
  if (!member) throw refused({ kind: 'unknown_member' })
  return member
}
