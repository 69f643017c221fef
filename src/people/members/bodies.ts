/** Members, organisations and invitations in request and response bodies. */
import { type Static, Type } from '@sinclair/typebox'
import { mayDo } from '@/accounts/members/permissions'
import { invalidRequest } from '@/chat/error'
import { NextCursor } from '@/console/http/pages'
import { exactly, isoMoments, listOf } from '@/console/http/wire'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { titled } from '@/http/openapi/titled'
import { isCountry } from '@/lib/countries'
import { oneOf, orNull } from '@/lib/schemas'
import type { ListedMember } from './change-members'
import { CREDENTIAL_KINDS } from './credentials'

export const Role = oneOf(ACCOUNT_ROLES)

/** The parameters in paths of members and invitations. */
export const MEMBER_NAMES = { userId: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }) }
export const INVITATION_NAMES = { invitationId: Type.String({ minLength: 1, maxLength: 64, pattern: '^\\w+$' }) }

export const MemberBody = titled('Member', {
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: Role,
  isSelf: Type.Boolean(),
  mayHaveKeys: Type.Boolean({ description: 'Whether the role allows the member to have keys' }),
  activeKeys: Type.Integer({ description: 'Keys of theirs that programs may use now' }),
  createdAt: Type.String({ description: 'Since when, ISO 8601' }),
})

/** A member as the person `viewerId` sees them. */
export function memberBody(member: ListedMember, viewerId: string): Static<typeof MemberBody> {
  const { role, userId } = member
  return { ...isoMoments(member), mayHaveKeys: mayDo(role, 'keys.use'), isSelf: userId === viewerId }
}

export const Company = Type.Object({
  name: Type.String(),
  country: Type.String({ description: 'Two letters, ISO 3166-1' }),
  vatId: orNull(Type.String()),
})

export const MemberList = Type.Object({
  kind: oneOf(['personal', 'organisation']),
  company: orNull(Company),
  items: Type.Array(MemberBody, { description: 'Owners first' }),
  nextCursor: NextCursor,
  maxMembers: Type.Integer(),
})

export const NewCompany = exactly({
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
  }),
  country: Type.String({ pattern: '^[A-Z]{2}$', description: 'Two letters, ISO 3166-1' }),
  vatId: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9 .-]{2,30}$', description: 'Kept as it is written' })),
})

/** The company in a body. Throws `invalid_request` for a country that does not exist. */
export function companyOf({ name, country, vatId }: Static<typeof NewCompany>): Static<typeof Company> {
  if (!isCountry(country)) throw invalidRequest('There is no country of these two letters.', 'country')
  return { name: name.trim(), country, vatId: vatId?.trim() || null }
}

export const FateOfCredentials = oneOf(['revoke', 'keep'], {
  description: 'What happens to the member’s keys that the new role may not have; omitted: they are revoked',
})

export const CredentialBody = titled('Credential', {
  kind: oneOf(CREDENTIAL_KINDS, {
    description: '`service_key`: a key of the account whose text the member knows; it stays',
  }),
  id: Type.String(),
  name: Type.String({ description: 'The name of a key, the address of an invitation' }),
  roles: Type.Array(Role, { description: 'The roles that may have it' }),
})
export const Revoked = Type.Array(CredentialBody, { description: 'What ended with it' })

const InvitationBody = titled('Invitation', {
  invitationId: Type.String(),
  email: Type.String(),
  role: Role,
  invitedBy: Type.String({ description: 'The name of the last sender' }),
  isExpired: Type.Boolean(),
  createdAt: Type.String({ description: 'ISO 8601' }),
  expiresAt: Type.String({ description: 'ISO 8601' }),
})
export const InvitationList = listOf(InvitationBody, { description: 'Unanswered invitations, newest first' })

export const Sent = Type.Object({ invitationId: Type.String() })

export const Offer = Type.Object({
  accountName: Type.String(),
  role: Role,
  invitedBy: Type.String({ description: 'The name of the sender' }),
})
