/** Routes of an account's members: list them, change roles, remove them, and become an organisation. */
import { Type } from '@sinclair/typebox'
import { MAX_MEMBERS } from '@/accounts/members/admission'
import type { ListedMember } from '@/accounts/members/change-members'
import { CREDENTIAL_KINDS } from '@/accounts/members/credentials'
import type { Members } from '@/accounts/members/members'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT, notPermitted } from '@/console/http/guard'
import { NextCursor, PageQuery, pageOf, placeOfMember } from '@/console/http/pages'
import { exactly, isoMoments, mapPage } from '@/console/http/wire'
import type { PageRequest } from '@/db/paging'
import { titled } from '@/http/openapi/titled'
import { isCountry } from '@/lib/countries'
import { oneOf, orNull } from '@/lib/schemas'
import { Role, refusalOf } from './member-words'

export type MemberRouteDeps = GuardDeps & { members: Members }

export const MemberParams = Type.Object({
  ...IN_ACCOUNT,
  userId: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }),
})

const MemberBody = titled('Member', {
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: Role,
  isSelf: Type.Boolean(),
  mayHaveKeys: Type.Boolean({ description: 'Whether the role allows the member to have keys' }),
  activeKeys: Type.Integer({ description: 'Keys of theirs that programs may use now' }),
  createdAt: Type.String({ description: 'Since when, ISO 8601' }),
})

const Company = Type.Object({
  name: Type.String(),
  country: Type.String({ description: 'Two letters, ISO 3166-1' }),
  vatId: orNull(Type.String()),
})

const MemberList = Type.Object({
  kind: oneOf(['personal', 'organisation']),
  company: orNull(Company),
  items: Type.Array(MemberBody, { description: 'Owners first' }),
  nextCursor: NextCursor,
  maxMembers: Type.Integer(),
})

const NewCompany = exactly({
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
  }),
  country: Type.String({ pattern: '^[A-Z]{2}$', description: 'Two letters, ISO 3166-1' }),
  vatId: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9 .-]{2,30}$', description: 'Kept as it is written' })),
})

const FateOfCredentials = oneOf(['revoke', 'keep'], {
  description: 'What happens to the member’s keys that the new role may not have; omitted: they are revoked',
})

const CredentialBody = titled('Credential', {
  kind: oneOf(CREDENTIAL_KINDS, {
    description: '`service_key`: a key of the account whose text the member knows; it stays',
  }),
  id: Type.String(),
  name: Type.String({ description: 'The name of a key, the address of an invitation' }),
  roles: Type.Array(Role, { description: 'The roles that may have it' }),
})
const Revoked = Type.Array(CredentialBody, { description: 'What ended with it' })

/** Mounts `/dashboard/api/a/:accountId/members`. */
export function memberRoutes(deps: MemberRouteDeps) {
  return guarded(deps, 'member-routes', ACCOUNT_PREFIX)
    .get('/members', ({ viewer, query }) => list(deps, viewer, query), {
      may: 'members.read',
      query: PageQuery,
      response: MemberList,
      detail: { summary: 'List members', description: 'Who may do what in the account.' },
    })
    .get('/members/:userId', ({ viewer, params }) => show(deps, viewer, params.userId), {
      may: 'members.read',
      params: MemberParams,
      response: MemberBody,
      detail: {
        summary: 'Get a member',
        description: 'Each member’s role and number of keys.',
      },
    })
    .get('/members/:userId/credentials', ({ viewer, params }) => credentials(deps, viewer, params.userId), {
      may: 'members.read',
      params: MemberParams,
      response: Type.Object({ items: Type.Array(CredentialBody) }),
      detail: {
        summary: 'List what a member has made',
        description: 'Keys that work, and open invitations: one’s own, or another’s by those who change members.',
      },
    })
    .patch(
      '/members/:userId',
      async ({ viewer, by, params, body }) => {
        const change = { accountId: viewer.accountId, userId: params.userId, by }
        const outcome = await deps.members.changeRole(change, body.role, body.credentials ?? 'revoke')
        if (outcome.kind !== 'done') throw refusalOf(outcome)
        return { role: body.role, revoked: outcome.revoked }
      },
      {
        may: 'members.change',
        params: MemberParams,
        body: exactly({ role: Role, credentials: Type.Optional(FateOfCredentials) }),
        response: Type.Object({ role: Role, revoked: Revoked }),
        detail: {
          summary: 'Change the role of a member',
          description:
            'Up to one’s own role; owners are changed by owners alone, and one’s own role only goes down (403 otherwise). The last owner ' +
            'stays one (409 `last_owner`). What they have made and the new role may not hold is revoked; with `credentials: keep`, keys stay.',
        },
      },
    )
    .delete(
      '/members/:userId',
      async ({ viewer, by, params, query }) => {
        const change = { ...params, accountId: viewer.accountId, by }
        const outcome = await deps.members.remove(change, query.credentials ?? 'revoke')
        if (outcome.kind !== 'done') throw refusalOf(outcome)
        return { removed: true as const, revoked: outcome.revoked }
      },
      {
        may: 'members.read',
        params: MemberParams,
        query: Type.Object({ credentials: Type.Optional(FateOfCredentials) }),
        response: Type.Object({ removed: Type.Literal(true), revoked: Revoked }),
        detail: {
          summary: 'Remove a member, or leave',
          description:
            'With the next request nothing of the account exists for them. Their API keys are deactivated, their management keys and open ' +
            'invitations revoked; `credentials=keep` keeps management keys. History stays under their name.',
        },
      },
    )
}

/** Mounts `/dashboard/api/a/:accountId/organisation`. */
export function organisationRoutes(deps: MemberRouteDeps) {
  return guarded(deps, 'organisation-routes', ACCOUNT_PREFIX)
    .post(
      '/organisation',
      async ({ viewer, by, body }) => {
        const company = companyOf(body)
        const outcome = await deps.members.makeOrganisation(viewer.accountId, company, by)
        if (outcome.kind === 'done') return company
        throw new GatewayError('conflict', 'The account is an organisation already.', { code: 'organisation_already' })
      },
      {
        may: 'account.change',
        body: NewCompany,
        response: Company,
        detail: {
          summary: 'Make the account an organisation',
          description: 'For good. Balance, keys and history stay; more people can be members.',
        },
      },
    )
    .put(
      '/organisation',
      async ({ viewer, by, body }) => {
        const company = companyOf(body)
        const outcome = await deps.members.changeCompany(viewer.accountId, company, by)
        if (outcome.kind === 'done') return company
        throw refusalOf({ kind: 'not_organisation' })
      },
      {
        may: 'account.change',
        body: NewCompany,
        response: Company,
        detail: {
          summary: 'Change the legal data of the organisation',
          description:
            'Name, country and VAT id, as receipts show them. The account gets the name. 409 for a personal account.',
        },
      },
    )
}

function companyOf({ name, country, vatId }: typeof NewCompany.static): typeof Company.static {
  if (!isCountry(country)) throw invalidRequest('There is no country of these two letters.', 'country')
  return { name: name.trim(), country, vatId: vatId?.trim() || null }
}

async function list({ members }: MemberRouteDeps, { accountId, userId }: Member, query: PageRequest) {
  const [account, all] = await Promise.all([members.findKind(accountId), members.list(accountId)])
  if (!account) throw new GatewayError('not_found', 'There is no such account.')
  return {
    kind: account.kind,
    company: account.company,
    ...mapPage(pageOf(all, query, placeOfMember), (member) => memberBody(member, userId)),
    maxMembers: MAX_MEMBERS,
  }
}

async function show({ members }: MemberRouteDeps, { accountId, userId: viewerId }: Member, userId: string) {
  const member = (await members.list(accountId)).find((one) => one.userId === userId)
  if (!member) throw refusalOf({ kind: 'unknown_member' })
  return memberBody(member, viewerId)
}

async function credentials({ members }: MemberRouteDeps, viewer: Member, userId: string) {
  const { accountId, accountRole, managementKeyId } = viewer
  if (!(await members.list(accountId)).some((one) => one.userId === userId)) throw refusalOf({ kind: 'unknown_member' })
  const isOneself = managementKeyId === undefined && viewer.userId === userId
  if (!isOneself && !mayDo(accountRole, 'members.change')) throw notPermitted()
  return { items: await members.credentials(accountId, userId) }
}

function memberBody(member: ListedMember, viewerId: string): typeof MemberBody.static {
  const { role, userId } = member
  return { ...isoMoments(member), mayHaveKeys: mayDo(role, 'keys.use'), isSelf: userId === viewerId }
}
