/** Lets an invited person view, accept or decline an invitation. An invitation works once, and only for its verified address. */
import { and, eq, isNull, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { roleIn } from '@/accounts/members/memberships'
import { mayGive } from '@/accounts/members/permissions'
import { tellOfOwner } from '@/accounts/members/tell-members'
import { type AccountRole, invitations, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import { sha256Hex } from '@/lib/ids'
import { type AdmissionRefusal, admit, lockOrganisation } from './admission'

type OpenInvitation = {
  invitationId: string
  accountId: string
  accountName: string
  role: AccountRole
  invitedBy: string
}

/** `invalid`: expired, used, revoked, unknown, for another address, or its sender may no longer invite. Answers hide the reason. */
export type AnswerRefusal = { kind: 'invalid' } | { kind: 'not_verified' } | AdmissionRefusal

type Answering = { token: string; by: ChangedBy & { actor: { userId: string } } }

/** The invitation as its recipient sees it. */
export async function readInvitation(
  { db }: Database,
  { token, by }: Answering,
): Promise<{ kind: 'open'; invitation: OpenInvitation } | AnswerRefusal> {
  return await db.transaction(async (transaction) => {
    const found = await findOpen(transaction, token, by)
    return 'kind' in found ? found : { kind: 'open', invitation: found }
  })
}

/** Accepts an invitation: the person becomes a member. */
export async function acceptInvitation(
  { db }: Database,
  { token, by }: Answering,
): Promise<{ kind: 'accepted'; accountId: string } | AnswerRefusal> {
  return await db.transaction(async (transaction) => {
    const found = await findOpen(transaction, token, by)
    if ('kind' in found) return found
    const { invitationId, accountId, role, invitedBy } = found
    const { userId } = by.actor
    const refusal = await admit(transaction, accountId, userId, role)
    if (refusal) return refusal
    await transaction.update(invitations).set({ state: 'accepted' }).where(eq(invitations.id, invitationId))
    if (role === 'owner') await tellOfOwner(transaction, { accountId, by }, userId)
    const details = { invitationId, role, invitedBy }
    await recordAudit(transaction, { ...by, action: 'member.join', subject: userId, accountId, details })
    return { kind: 'accepted', accountId }
  })
}

/** Declines an invitation permanently. */
export async function declineInvitation(
  { db }: Database,
  { token, by }: Answering,
): Promise<{ kind: 'declined' } | AnswerRefusal> {
  return await db.transaction(async (transaction) => {
    const found = await findOpen(transaction, token, by)
    if ('kind' in found) return found
    const { invitationId, accountId, role } = found
    await transaction.update(invitations).set({ state: 'declined' }).where(eq(invitations.id, invitationId))
    const details = { role }
    await recordAudit(transaction, { ...by, action: 'invitation.decline', subject: invitationId, accountId, details })
    return { kind: 'declined' }
  })
}

/** The token's open invitation. The account is locked, so of two simultaneous answers, the second sees the first's outcome. */
async function findOpen(
  transaction: Transaction,
  token: string,
  { actor: { userId } }: Answering['by'],
): Promise<OpenInvitation | AnswerRefusal> {
  const person = await findRow(transaction, users, eq(users.id, userId))
  if (!person?.emailVerified) return { kind: 'not_verified' }
  const tokenHash = sha256Hex(token)
  const named = await findRow(transaction, invitations, eq(invitations.tokenHash, tokenHash))
  if (!named || !(await lockOrganisation(transaction, named.accountId))) return { kind: 'invalid' }
  const [row] = await transaction
    .select({
      invitation: invitations,
      accountName: accounts.name,
      invitedBy: users.name,
      isExpired: sql<boolean>`${invitations.expiresAt} <= now()`,
    })
    .from(invitations)
    .innerJoin(accounts, eq(accounts.id, invitations.accountId))
    // An invitation by a disabled person is void.
    .innerJoin(users, and(eq(users.id, invitations.invitedBy), isNull(users.disabledAt)))
    .where(eq(invitations.tokenHash, tokenHash))
  if (!row || row.isExpired) return { kind: 'invalid' }
  const { id: invitationId, accountId, email, role, state, invitedBy } = row.invitation
  const isOpen = state === 'pending' && email === person.email
  if (!isOpen || !mayGive(await roleIn(transaction, accountId, invitedBy), role)) return { kind: 'invalid' }
  return { invitationId, accountId, accountName: row.accountName, role, invitedBy: row.invitedBy }
}
