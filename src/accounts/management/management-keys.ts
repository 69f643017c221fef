/**
 * Creates (and shows once), lists, revokes and identifies management keys. They belong to the account, not to their maker:
 * docs/decisions/0035-a-management-key-is-the-accounts.md.
 */
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { generateProgramKey, hashKey, isProgramKey } from '@/accounts/key-text'
import { writeMails } from '@/accounts/mails/outbox'
import { roleIn } from '@/accounts/members/memberships'
import { mayHold } from '@/accounts/members/permissions'
import { addressesOf, nameOf } from '@/accounts/members/tell-members'
import { memberships, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { managementKeys } from '@/db/management-schema'
import { accounts } from '@/db/schema'
import type { Addresses } from '@/ledger/address-lists'
import { randomId } from '@/lib/ids'
import { SCOPES, type Scope } from './scopes'

type NewManagementKey = {
  accountId: string
  /** 1 to 200 characters. */
  name: string
  scopes: readonly Scope[]
  /** Milliseconds since 1970; null = never. */
  expiresAtMs: number | null
  createdBy: string
}

export type ManagementKeyListing = {
  keyId: string
  name: string
  prefix: string
  lastFour: string
  scopes: Scope[]
  /** The person who created the key, and whether they are still a member. */
  createdBy: { userId: string; name: string; isMember: boolean }
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
}

export type Manager = {
  keyId: string
  accountId: string
  name: string
  scopes: readonly string[]
  expiresAt: Date | null
  createdBy: { userId: string; name: string; email: string }
  /** Networks from which keys of the account may be used. */
  allowedAddresses: Addresses
}

/** `key` is the only copy of the key's text. */
type CreateOutcome =
  | { kind: 'created'; keyId: string; key: string }
  | { kind: 'too_many_keys'; limit: number }
  | { kind: 'unknown_account' }
  /** The person's role does not allow creating management keys. */
  | { kind: 'not_permitted' }

export type ManagementKeys = ReturnType<typeof createManagementKeys>

export const MAX_MANAGEMENT_KEYS = 20
/** Minimum interval between two writes of a key's last use. */
const TOUCH_MS = 60_000

/** Management keys of `service` in `database`. */
export function createManagementKeys(database: Database, service: string) {
  return {
    create: create.bind(null, database, service),
    list: list.bind(null, database),
    revoke: revoke.bind(null, database),
    /** Returns undefined for unknown, revoked and expired keys, and for keys whose maker an operator has disabled. */
    identify: async (text: string) =>
      isProgramKey(text, service, 'mgmt') ? await identify(database, text) : undefined,
  }
}

async function create(
  { db }: Database,
  service: string,
  { accountId, name, scopes, expiresAtMs, createdBy }: NewManagementKey,
  by: ChangedBy,
): Promise<CreateOutcome> {
  const { key, prefix, lastFour } = generateProgramKey(service, 'mgmt')
  const keyId = randomId('mgmt')
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs)
  return await db.transaction(async (transaction): Promise<CreateOutcome> => {
    // Changes of roles take the same lock, so the role can't change before the key exists.
    if (!(await lockAccount(transaction, accountId))) return { kind: 'unknown_account' }
    if (!mayHold(await roleIn(transaction, accountId, createdBy), 'management_key')) return { kind: 'not_permitted' }
    const isOwn = and(eq(managementKeys.accountId, accountId), isNull(managementKeys.revokedAt))
    if ((await transaction.$count(managementKeys, isOwn)) >= MAX_MANAGEMENT_KEYS)
      return { kind: 'too_many_keys', limit: MAX_MANAGEMENT_KEYS }
    const own = { id: keyId, accountId, name, keyHash: hashKey(key), prefix, lastFour }
    await transaction.insert(managementKeys).values({ ...own, scopes: [...scopes], createdBy, expiresAt })
    const details = { name, scopes: scopes.join(', '), expiresAt: expiresAt?.toISOString() ?? null }
    await tellOfKey(transaction, { accountId, name, scopes: details.scopes, by })
    await recordAudit(transaction, { ...by, action: 'management_key.create', subject: keyId, accountId, details })
    return { kind: 'created', keyId, key }
  })
}

async function tellOfKey(
  transaction: Transaction,
  { accountId, name, scopes, by }: { accountId: string; name: string; scopes: string; by: ChangedBy },
): Promise<void> {
  const to = (await addressesOf(transaction, accountId, ['owner', 'admin'])).map(({ email }) => email)
  const facts = { accountName: await nameOf(transaction, accountId), name, scopes, by: by.actor.email }
  await writeMails(transaction, { kind: 'management_key_made', facts }, to, { accountId })
}

/** Keys that are not revoked, newest first, including expired ones. */
async function list({ db }: Database, accountId: string): Promise<ManagementKeyListing[]> {
  const membership = and(eq(memberships.accountId, accountId), eq(memberships.userId, managementKeys.createdBy))
  const rows = await db
    .select({ key: managementKeys, maker: users.name, role: memberships.role })
    .from(managementKeys)
    .innerJoin(users, eq(users.id, managementKeys.createdBy))
    .leftJoin(memberships, membership)
    .where(and(eq(managementKeys.accountId, accountId), isNull(managementKeys.revokedAt)))
    .orderBy(desc(managementKeys.createdAt), desc(managementKeys.id))
  return rows.map(({ key, maker, role }) => ({
    keyId: key.id,
    name: key.name,
    prefix: key.prefix,
    lastFour: key.lastFour,
    scopes: SCOPES.filter((scope) => key.scopes.includes(scope)),
    createdBy: { userId: key.createdBy, name: maker, isMember: role !== null },
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    lastUsedAt: key.lastUsedAt,
  }))
}

/** Revokes a key for ever, from its next request on. With `accountId`, only a key of that account. */
async function revoke(
  { db }: Database,
  keyId: string,
  accountId: string | undefined,
  by: ChangedBy,
): Promise<'revoked' | 'unknown_key'> {
  return await db.transaction(async (transaction) => {
    const own = accountId === undefined ? undefined : eq(managementKeys.accountId, accountId)
    const [row] = await transaction
      .update(managementKeys)
      .set({ revokedAt: new Date() })
      .where(and(eq(managementKeys.id, keyId), own, isNull(managementKeys.revokedAt)))
      .returning({ name: managementKeys.name, accountId: managementKeys.accountId })
    if (!row) return 'unknown_key'
    const entry = { action: 'management_key.revoke', subject: keyId, accountId: row.accountId }
    await recordAudit(transaction, { ...by, ...entry, details: { name: row.name } })
    return 'revoked'
  })
}

async function identify({ db }: Database, text: string): Promise<Manager | undefined> {
  const isLive = or(isNull(managementKeys.expiresAt), gt(managementKeys.expiresAt, sql`now()`))
  const [row] = await db
    .select({
      key: managementKeys,
      createdBy: { userId: users.id, name: users.name, email: users.email },
      allowedAddresses: accounts.allowedAddresses,
    })
    .from(managementKeys)
    .innerJoin(users, and(eq(users.id, managementKeys.createdBy), isNull(users.disabledAt)))
    .innerJoin(accounts, eq(accounts.id, managementKeys.accountId))
    .where(and(eq(managementKeys.keyHash, hashKey(text)), isNull(managementKeys.revokedAt), isLive))
  if (!row) return undefined
  const { key, createdBy, allowedAddresses } = row
  if (Date.now() - (key.lastUsedAt?.getTime() ?? 0) >= TOUCH_MS) {
    await db.update(managementKeys).set({ lastUsedAt: new Date() }).where(eq(managementKeys.id, key.id))
  }
  const { id: keyId, accountId, name, scopes, expiresAt } = key
  return { keyId, accountId, name, scopes, expiresAt, createdBy, allowedAddresses }
}
