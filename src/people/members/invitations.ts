/** Invitations to an organisation: members with the permission make, resend and revoke them. Tokens are stored as hashes. */
import { and, desc, eq, gt, ne, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { roleOfActor } from '@/accounts/members/memberships'
import { mayGive } from '@/accounts/members/permissions'
import { nameOf } from '@/accounts/members/tell-members'
import { type AccountRole, invitations, memberships, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { randomBase62, randomId, sha256Hex } from '@/lib/ids'
import { lockOrganisation } from './admission'

export const INVITATION_DAYS = 7
/** Per account: maximum pending invitations, and maximum invitations made in 24 hours. */
export const MAX_PENDING = 50
export const MAX_A_DAY = 100

/** 32 base-62 characters have 190 bits. */
const TOKEN_LENGTH = 32
const DAY_MS = 86_400_000
const MAX_LISTED = 2 * MAX_PENDING

export type ListedInvitation = {
  invitationId: string
  email: string
  role: AccountRole
  invitedBy: string
  isExpired: boolean
  createdAt: Date
  expiresAt: Date
}

/** The content of the mail. Only the mail contains the `token`. */
export type SentInvitation = {
  invitationId: string
  token: string
  email: string
  role: AccountRole
  accountName: string
}

export type InvitationRefusal = {
  kind:
    | 'not_organisation'
    | 'unknown_invitation'
    | 'already_member'
    | 'not_permitted'
    | 'too_many_pending'
    | 'too_many_a_day'
}

/** The inviting person and account. `tell` writes the mail in the transaction that makes the invitation. */
type Inviting = {
  accountId: string
  by: ChangedBy & { actor: { userId: string } }
  tell?(transaction: Transaction, invitation: SentInvitation): Promise<void>
}

/** Invites an address, with or without a user. A pending invitation to it is revoked. */
export async function invite(
  { db }: Database,
  { accountId, by, tell }: Inviting,
  { email: address, role }: { email: string; role: AccountRole },
): Promise<{ kind: 'sent'; invitation: SentInvitation } | InvitationRefusal> {
  const email = address.toLowerCase()
  return await db.transaction(async (transaction) => {
    if (!(await lockOrganisation(transaction, accountId))) return { kind: 'not_organisation' }
    if (!mayGive(await roleOfActor(transaction, accountId, by), role)) return { kind: 'not_permitted' }
    if (await isMember(transaction, accountId, email)) return { kind: 'already_member' }
    const others = and(eq(invitations.accountId, accountId), ne(invitations.email, email))
    if ((await transaction.$count(invitations, and(others, isPending()))) >= MAX_PENDING)
      return { kind: 'too_many_pending' }
    const today = and(eq(invitations.accountId, accountId), gt(invitations.createdAt, new Date(Date.now() - DAY_MS)))
    if ((await transaction.$count(invitations, today)) >= MAX_A_DAY) return { kind: 'too_many_a_day' }
    await transaction
      .update(invitations)
      .set({ state: 'revoked' })
      .where(and(eq(invitations.accountId, accountId), eq(invitations.email, email), eq(invitations.state, 'pending')))
    const { token, ...secret } = newSecret()
    const invitationId = randomId('invt')
    const values = { id: invitationId, accountId, email, role, invitedBy: by.actor.userId, ...secret }
    await transaction.insert(invitations).values(values)
    const invitation = { invitationId, token, email, role, accountName: await nameOf(transaction, accountId) }
    await tell?.(transaction, invitation)
    const details = { email, role }
    await recordAudit(transaction, { ...by, action: 'invitation.create', subject: invitationId, accountId, details })
    return { kind: 'sent', invitation }
  })
}

/** Makes a new token for a pending invitation and voids the old one. The caller becomes its sender. */
export async function resendInvitation(
  { db }: Database,
  { accountId, by, tell }: Inviting,
  invitationId: string,
): Promise<{ kind: 'sent'; invitation: SentInvitation } | InvitationRefusal> {
  return await db.transaction(async (transaction) => {
    const found = await lockPending(transaction, { accountId, by }, invitationId)
    if ('kind' in found) return found
    const others = and(eq(invitations.accountId, accountId), ne(invitations.id, invitationId))
    if ((await transaction.$count(invitations, and(others, isPending()))) >= MAX_PENDING)
      return { kind: 'too_many_pending' }
    const { email, role } = found
    const { token, ...secret } = newSecret()
    await transaction
      .update(invitations)
      .set({ ...secret, invitedBy: by.actor.userId })
      .where(eq(invitations.id, invitationId))
    const invitation = { invitationId, token, email, role, accountName: await nameOf(transaction, accountId) }
    await tell?.(transaction, invitation)
    const details = { email, role }
    await recordAudit(transaction, { ...by, action: 'invitation.resend', subject: invitationId, accountId, details })
    return { kind: 'sent', invitation }
  })
}

/** Revokes a pending invitation. */
export async function revokeInvitation(
  { db }: Database,
  { accountId, by }: Pick<Inviting, 'accountId'> & { by: ChangedBy },
  invitationId: string,
): Promise<{ kind: 'done' } | InvitationRefusal> {
  return await db.transaction(async (transaction) => {
    const found = await lockPending(transaction, { accountId, by }, invitationId)
    if ('kind' in found) return found
    await transaction.update(invitations).set({ state: 'revoked' }).where(eq(invitations.id, invitationId))
    const details = { email: found.email, role: found.role }
    await recordAudit(transaction, { ...by, action: 'invitation.revoke', subject: invitationId, accountId, details })
    return { kind: 'done' }
  })
}

/** Open invitations, newest first. */
export async function listInvitations({ db }: Database, accountId: string): Promise<ListedInvitation[]> {
  return await db
    .select({
      invitationId: invitations.id,
      email: invitations.email,
      role: invitations.role,
      invitedBy: users.name,
      isExpired: sql<boolean>`${invitations.expiresAt} <= now()`,
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
    })
    .from(invitations)
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.accountId, accountId), eq(invitations.state, 'pending')))
    .orderBy(desc(invitations.expiresAt), desc(invitations.id))
    .limit(MAX_LISTED)
}

async function lockPending(
  transaction: Transaction,
  { accountId, by }: Pick<Inviting, 'accountId'> & { by: ChangedBy },
  invitationId: string,
): Promise<{ email: string; role: AccountRole } | InvitationRefusal> {
  await lockOrganisation(transaction, accountId)
  const isThis = and(eq(invitations.id, invitationId), eq(invitations.accountId, accountId))
  const row = await findRow(transaction, invitations, and(isThis, eq(invitations.state, 'pending')))
  if (!row) return { kind: 'unknown_invitation' }
  const isAllowed = mayGive(await roleOfActor(transaction, accountId, by), row.role)
  return isAllowed ? row : { kind: 'not_permitted' }
}

async function isMember(transaction: Transaction, accountId: string, email: string): Promise<boolean> {
  const [row] = await transaction
    .select({ userId: memberships.userId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), eq(users.email, email)))
  return row !== undefined
}

function isPending() {
  return and(eq(invitations.state, 'pending'), gt(invitations.expiresAt, sql`now()`))
}

function newSecret(): { token: string; tokenHash: string; expiresAt: Date } {
  const token = randomBase62(TOKEN_LENGTH)
  const expiresAt = new Date(Date.now() + INVITATION_DAYS * DAY_MS)
  return { token, tokenHash: sha256Hex(token), expiresAt }
}
