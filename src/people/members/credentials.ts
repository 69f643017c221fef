/** A member's credentials that work without a session, and the roles that may have them. */
import { and, asc, eq, exists, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { type HeldKind, mayGive, mayHold } from '@/accounts/members/permissions'
import { auditEntries } from '@/db/administration-schema'
import { ACCOUNT_ROLES, type AccountRole, invitations } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { managementKeys } from '@/db/management-schema'
import { apiKeys } from '@/db/schema'

/** `service_key`: the account's own key, whose text this member has seen. A role change does not end it. */
export const CREDENTIAL_KINDS = ['api_key', 'management_key', 'invitation', 'service_key'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]

export type Credential = {
  kind: CredentialKind
  id: string
  /** A key's name, or an invitation's address. */
  name: string
  /** The roles that may have the credential. */
  roles: AccountRole[]
}

export type Fate = 'revoke' | 'keep'

/** The credentials that this role, or a non-member, may not have. */
export function lostWith(role: AccountRole | undefined, credentials: readonly Credential[]): Credential[] {
  return credentials.filter(({ kind, roles }) => kind !== 'service_key' && !(role && roles.includes(role)))
}

/** The account's usable credentials made by this person, oldest first within each kind. */
export async function credentialsOf(
  db: Database['db'] | Transaction,
  accountId: string,
  userId: string,
): Promise<Credential[]> {
  const isActive = and(eq(apiKeys.accountId, accountId), eq(apiKeys.status, 'active'), isNull(apiKeys.builtIn))
  const made = db
    .select({ one: sql`1` })
    .from(auditEntries)
    .where(
      and(
        ...[eq(auditEntries.subject, apiKeys.id), eq(auditEntries.actorId, userId)],
        inArray(auditEntries.action, ['key.create', 'key.rotate']),
      ),
    )
  const keys = await db
    .select({ id: apiKeys.id, name: apiKeys.name, createdBy: apiKeys.createdBy })
    .from(apiKeys)
    .where(and(isActive, or(eq(apiKeys.createdBy, userId), and(isNull(apiKeys.createdBy), exists(made)))))
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
  const isLive = or(isNull(managementKeys.expiresAt), gt(managementKeys.expiresAt, sql`now()`))
  const managing = await db
    .select({ id: managementKeys.id, name: managementKeys.name })
    .from(managementKeys)
    .where(
      and(
        ...[eq(managementKeys.accountId, accountId), eq(managementKeys.createdBy, userId)],
        ...[isNull(managementKeys.revokedAt), isLive],
      ),
    )
    .orderBy(asc(managementKeys.createdAt), asc(managementKeys.id))
  const inviting = await db
    .select({ id: invitations.id, name: invitations.email, role: invitations.role })
    .from(invitations)
    .where(
      and(
        ...[eq(invitations.accountId, accountId), eq(invitations.invitedBy, userId)],
        ...[eq(invitations.state, 'pending'), gt(invitations.expiresAt, sql`now()`)],
      ),
    )
    .orderBy(asc(invitations.createdAt), asc(invitations.id))
  const holders = (kind: HeldKind) => ACCOUNT_ROLES.filter((role) => mayHold(role, kind))
  return [
    ...keys.map(
      ({ createdBy, ...key }): Credential =>
        createdBy === null
          ? { kind: 'service_key', ...key, roles: [...ACCOUNT_ROLES] }
          : { kind: 'api_key', ...key, roles: holders('api_key') },
    ),
    ...managing.map((key) => ({ kind: 'management_key' as const, ...key, roles: holders('management_key') })),
    ...inviting.map(({ role, ...one }) => ({
      ...({ kind: 'invitation', ...one } as const),
      roles: holders('invitation').filter((holder) => mayGive(holder, role)),
    })),
  ]
}

/** Revokes the management keys and invitations in this list, in the transaction of the change that ends them. */
export async function revokeAll(
  transaction: Transaction,
  accountId: string,
  credentials: readonly Credential[],
  by: ChangedBy,
): Promise<void> {
  for (const { kind, id, name } of credentials) {
    const entry = { ...by, subject: id, accountId }
    if (kind === 'management_key') {
      await transaction.update(managementKeys).set({ revokedAt: new Date() }).where(eq(managementKeys.id, id))
      await recordAudit(transaction, { ...entry, action: 'management_key.revoke', details: { name } })
    }
    if (kind === 'invitation') {
      await transaction.update(invitations).set({ state: 'revoked' }).where(eq(invitations.id, id))
      await recordAudit(transaction, { ...entry, action: 'invitation.revoke', details: { email: name } })
    }
  }
}

export type KeyEnd = { deactivate(keyId: string, accountId: string, by: ChangedBy): Promise<unknown> }

type KeysEnding = { accountId: string; userId: string; by: ChangedBy }

/** Maximum times that keys are looked up and deactivated: this is repeated if a key was made in between. */
const MAX_LOOKS = 3

/** Runs `change`. If active keys prevent it, deactivates them on every gateway and repeats it. Callers may repeat after a failure. */
export async function endingKeys<Outcome extends { kind: string }>(
  { db }: Database,
  keys: KeyEnd,
  { accountId, userId, by }: KeysEnding,
  change: () => Promise<Outcome>,
): Promise<{ outcome: Outcome; ended: Credential[] }> {
  const ended: Credential[] = []
  for (let look = 1; ; look++) {
    const outcome = await change()
    if (outcome.kind !== 'has_keys' || look === MAX_LOOKS) return { outcome, ended }
    for (const key of await credentialsOf(db, accountId, userId)) {
      if (key.kind !== 'api_key') continue
      await keys.deactivate(key.id, accountId, by)
      ended.push(key)
    }
  }
}
