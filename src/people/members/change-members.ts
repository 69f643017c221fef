/** Changes of members and roles in an organisation, one at a time: each locks the account's row. */
import { and, asc, count, eq, ne } from 'drizzle-orm'
import { endAlertsTo } from '@/accounts/alerts/end-alerts'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { roleOfActor } from '@/accounts/members/memberships'
import { isBelow, mayGive } from '@/accounts/members/permissions'
import { tellMember, tellOfOwner } from '@/accounts/members/tell-members'
import { ensureAccount } from '@/accounts/users'
import { ACCOUNT_ROLES, type AccountRole, memberships, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts, apiKeys } from '@/db/schema'
import { type AdmissionRefusal, admit, lockOrganisation, MAX_MEMBERS, refuseOwner } from './admission'
import { type Credential, credentialsOf, type Fate, lostWith, revokeAll } from './credentials'

export type ListedMember = {
  userId: string
  name: string
  email: string
  role: AccountRole
  activeKeys: number
  createdAt: Date
}

export type MemberRefusal =
  | { kind: 'not_organisation' | 'unknown_member' | 'last_owner' | 'not_permitted' | 'own_promotion' }
  | AdmissionRefusal
  /** The member has active keys that the new role (or a non-member) may not have. */
  | { kind: 'has_keys'; activeKeys: number }

/** `revoked`: the credentials that ended with the change. */
export type MemberOutcome = { kind: 'done'; revoked: Credential[] } | MemberRefusal

/** If `by` has no user id, an operator acts, who may make any change that leaves the account an owner. */
export type MemberChange = { accountId: string; userId: string; by: ChangedBy }

/** The members of an account, owners first. */
export async function listMembers({ db }: Database, accountId: string): Promise<ListedMember[]> {
  const rows = await db
    .select({
      userId: users.id,
      name: users.name,
      email: users.email,
      role: memberships.role,
      createdAt: memberships.createdAt,
      activeKeys: count(apiKeys.id),
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(apiKeys, activeKeysOf())
    .where(eq(memberships.accountId, accountId))
    .groupBy(users.id, memberships.accountId, memberships.userId)
    .orderBy(asc(memberships.createdAt), asc(users.id))
    .limit(MAX_MEMBERS)
  return rows.toSorted((one, other) => ACCOUNT_ROLES.indexOf(one.role) - ACCOUNT_ROLES.indexOf(other.role))
}

/** The account's member with this address, in upper or lower case. */
export async function findByEmail(
  database: Database,
  accountId: string,
  email: string,
): Promise<ListedMember | undefined> {
  const lowered = email.toLowerCase()
  return (await listMembers(database, accountId)).find((one) => one.email.toLowerCase() === lowered)
}

/** Adds an existing user as a member without an invitation. For operators. */
export async function addMember(
  { db }: Database,
  { accountId, email, role, by }: { accountId: string; email: string; role: AccountRole; by: ChangedBy },
): Promise<{ kind: 'done' | 'not_organisation' | 'unknown_user' | 'last_owner' } | AdmissionRefusal> {
  return await db.transaction(async (transaction) => {
    if (!(await lockOrganisation(transaction, accountId))) return { kind: 'not_organisation' }
    const [user] = await transaction.select({ id: users.id }).from(users).where(eq(users.email, email.toLowerCase()))
    if (!user) return { kind: 'unknown_user' }
    // An account created on the command line has no members: its first one must be an owner.
    if (role !== 'owner' && (await isLastOwner(transaction, accountId, user.id))) return { kind: 'last_owner' }
    const refusal = await admit(transaction, accountId, user.id, role)
    if (refusal) return refusal
    await tellMember(transaction, { accountId, by }, email, { kind: 'member_added', role })
    if (role === 'owner') await tellOfOwner(transaction, { accountId, by }, user.id)
    const details = { email: email.toLowerCase(), role }
    await recordAudit(transaction, { ...by, action: 'member.add', subject: user.id, accountId, details })
    return { kind: 'done' }
  })
}

/**
 * Changes a member's role. People cannot give or take a role above their own; their own role they can only lower. Credentials the new role
 * may not have are revoked; active API keys must be deactivated before (`has_keys`). With `keep`, only invitations are revoked.
 */
export async function changeRole(
  { db }: Database,
  { accountId, userId, by }: MemberChange,
  role: AccountRole,
  fate: Fate = 'revoke',
): Promise<MemberOutcome> {
  return await db.transaction(async (transaction) => {
    const found = await lockMember(transaction, accountId, userId)
    if ('kind' in found) return found
    if (found.role === role) return { kind: 'done', revoked: [] }
    if (isOneself(by, userId)) {
      if (!isBelow(role, found.role)) return { kind: 'own_promotion' }
    } else {
      const refusal = await refuseActor(transaction, accountId, by, [found.role, role])
      if (refusal) return refusal
    }
    if (found.role === 'owner' && (await isLastOwner(transaction, accountId, userId))) return { kind: 'last_owner' }
    const tooMany = await refuseOwner(transaction, userId, role)
    if (tooMany) return tooMany
    const lost = ending(fate, lostWith(role, await credentialsOf(transaction, accountId, userId)))
    const activeKeys = keysAmong(lost)
    if (activeKeys > 0) return { kind: 'has_keys', activeKeys }
    await transaction
      .update(memberships)
      .set({ role })
      .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
    await tellMember(transaction, { accountId, by }, found.email, {
      kind: 'role_changed',
      before: found.role,
      after: role,
    })
    if (role === 'owner') await tellOfOwner(transaction, { accountId, by }, userId)
    const details = { email: found.email, before: found.role, after: role }
    await recordAudit(transaction, { ...by, action: 'member.change_role', subject: userId, accountId, details })
    await revokeAll(transaction, accountId, lost, by)
    return { kind: 'done', revoked: lost }
  })
}

/**
 * Ends a membership and the alerts to the member's own address. Refuses while the member has active API keys (`has_keys`), since nobody
 * would own them. Revokes invitations, and management keys unless `fate` is `keep`.
 */
export async function removeMember(
  { db }: Database,
  { accountId, userId, by }: MemberChange,
  fate: Fate = 'revoke',
): Promise<MemberOutcome> {
  return await db.transaction(async (transaction) => {
    const found = await lockMember(transaction, accountId, userId)
    if ('kind' in found) return found
    const isLeaving = isOneself(by, userId)
    const refusal = isLeaving ? undefined : await refuseActor(transaction, accountId, by, [found.role])
    if (refusal) return refusal
    if (found.role === 'owner' && (await isLastOwner(transaction, accountId, userId))) return { kind: 'last_owner' }
    const lost = lostWith(undefined, await credentialsOf(transaction, accountId, userId))
    const activeKeys = keysAmong(lost)
    if (activeKeys > 0) return { kind: 'has_keys', activeKeys }
    await transaction
      .delete(memberships)
      .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
    if (found.givenAccountId === accountId) await giveAnother(transaction, accountId, userId)
    await endAlertsTo(transaction, accountId, found.email)
    await tellMember(transaction, { accountId, by }, found.email, { kind: 'member_removed' })
    const details = { email: found.email, role: found.role }
    const action = isLeaving ? 'member.leave' : 'member.remove'
    await recordAudit(transaction, { ...by, action, subject: userId, accountId, details })
    const revoked = ending(fate, lost)
    await revokeAll(transaction, accountId, revoked, by)
    return { kind: 'done', revoked }
  })
}

/** The lost credentials to revoke: all, or only invitations if `fate` is `keep`. */
function ending(fate: Fate, lost: readonly Credential[]): Credential[] {
  return lost.filter(({ kind }) => fate === 'revoke' || kind === 'invitation')
}

function keysAmong(credentials: readonly Credential[]): number {
  return credentials.filter(({ kind }) => kind === 'api_key').length
}

function activeKeysOf() {
  return and(
    eq(apiKeys.accountId, memberships.accountId),
    eq(apiKeys.createdBy, memberships.userId),
    eq(apiKeys.status, 'active'),
  )
}

type LockedMember = { role: AccountRole; email: string; givenAccountId: string | null }

async function lockMember(
  transaction: Transaction,
  accountId: string,
  userId: string,
): Promise<LockedMember | MemberRefusal> {
  const isOrganisation = await lockOrganisation(transaction, accountId)
  const [member] = await transaction
    .select({ role: memberships.role, email: users.email, givenAccountId: users.accountId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
  if (!member) return { kind: 'unknown_member' }
  // Waits for keys that are being created now; keys created later see the changed role.
  await transaction
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
    .for('update')
  return isOrganisation ? member : { kind: 'not_organisation' }
}

/** A change by a management key does not count as its maker's own. */
function isOneself({ actor, managementKeyId }: ChangedBy, userId: string): boolean {
  return managementKeyId === undefined && actor.userId === userId
}

/** Checks the caller's role again under the lock: it may have changed since the request began. */
async function refuseActor(
  transaction: Transaction,
  accountId: string,
  by: ChangedBy,
  roles: readonly AccountRole[],
): Promise<MemberRefusal | undefined> {
  if (by.actor.userId === null) return undefined
  const own = await roleOfActor(transaction, accountId, by)
  return roles.every((role) => mayGive(own, role)) ? undefined : { kind: 'not_permitted' }
}

async function isLastOwner(transaction: Transaction, accountId: string, userId: string): Promise<boolean> {
  const isOther = and(
    eq(memberships.accountId, accountId),
    eq(memberships.role, 'owner'),
    ne(memberships.userId, userId),
  )
  return (await findRow(transaction, memberships, isOther)) === undefined
}

/** Gives a new account to a person who leaves the one that was created for them. That one gets another owner's address. */
async function giveAnother(transaction: Transaction, accountId: string, userId: string): Promise<void> {
  const [owner] = await transaction
    .select({ email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.role, 'owner')))
    .orderBy(asc(memberships.createdAt), asc(users.id))
    .limit(1)
  if (owner) await transaction.update(accounts).set({ email: owner.email }).where(eq(accounts.id, accountId))
  await transaction.update(users).set({ accountId: null }).where(eq(users.id, userId))
  await ensureAccount(transaction, userId)
}
