/** Creates API keys (shown once), changes, deactivates, activates and deletes them: in Postgres first, then at every gateway. */
import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { type AccountRole, memberships } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { isForeignKeyViolation } from '@/db/failure'
import { apiKeys, budgets } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { KeyStatus } from '@/ledger/outcomes'
import { randomId } from '@/lib/ids'
import type { KeySettings } from '@/people/keys/fields'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { type ChangeKeyOutcome, editKey, type KeyEdit, type KeyRow } from './edit-key'
import { describeSettings, keyColumns, settingsOf } from './key-limits'
import { findKey, listKeys } from './key-listing'
import { generateKey, hashKey, keyHint } from './key-text'
import { mayHold } from './members/permissions'
import { createPlaygroundKeys } from './playground-key'
import { rotateKey } from './rotation/rotate-key'

export type { ChangedBy } from './audit'
export type { ChangeKeyOutcome } from './edit-key'
export type { KeyListing } from './key-listing'

/** Counts are integers from 1 to `MAX_KEY_LIMIT` (asserted). A missing limit means the catalogue's default, or no limit. */
export type NewKey = Partial<KeySettings> & {
  accountId: string
  /** 1 to 200 characters. */
  name: string
  /** The key's member. Omitted: the key belongs to the account. */
  createdBy?: string
}

/** Omitted settings stay unchanged. A limit of null means the catalogue's default, or no limit. */
export type KeyChanges = Partial<KeySettings> & { name?: string }

/** `key` is the only copy of the key's text; it is not stored. */
type CreateKeyOutcome =
  | { kind: 'created'; keyId: string; key: string }
  | { kind: 'unknown_account' }
  /** The new owner's role allows no keys. */
  | { kind: 'no_owner' }
  | { kind: 'too_many_keys'; limit: number }

/** With `accountId`, only a key of that account is changed. `by`, for the audit log, defaults to the operator. */
export type ApiKeys = ReturnType<typeof createApiKeys>

/** Maximum keys of one account. Deleted and built-in keys don't count. */
export const MAX_KEYS_PER_ACCOUNT = 100

/** Keys of `service`. A change throws if the ledger is unreachable: it is in Postgres then, and repeating it updates the ledger. */
export function createApiKeys(database: Database, ledger: Ledger, service: string) {
  const playgroundKeyOf = createPlaygroundKeys(database, service)
  const edit = (decide: (row: KeyRow) => Decision) => (keyId: string, accountId?: string, by?: ChangedBy) =>
    editKey(database, ledger, { keyId, accountId, by: by ?? OPERATOR, decide })
  return {
    create: create.bind(null, database, ledger, service),
    /** Renames a key and changes its limits. `check` gets the locked row's settings. It may throw to refuse the change. */
    change(
      keyId: string,
      changes: KeyChanges,
      accountId?: string,
      by?: ChangedBy,
      check?: (present: KeySettings & { name: string }) => void,
    ): Promise<ChangeKeyOutcome> {
      const decide = (row: KeyRow) => {
        check?.({ name: row.name, ...settingsOf(row) })
        return toChanged(row, changes)
      }
      return edit(decide)(keyId, accountId, by)
    },
    deactivate: edit((row) => toStatus(row, 'deactivated')),
    /** Activates a key. Refused if the key's owner is not a member, or has a role that allows no keys. */
    activate: (keyId: string, accountId?: string, by: ChangedBy = OPERATOR) =>
      editKey(database, ledger, {
        ...{ keyId, accountId, by, decide: (row) => toStatus(row, 'active'), movesBudgets: true },
        verify: async (transaction, row) =>
          row.createdBy === null || mayHold(await lockRole(transaction, row.accountId, row.createdBy), 'api_key'),
      }),
    /** Transfers the key to another member whose role allows keys. Running requests stay charged to the old owner. */
    transfer: (keyId: string, accountId: string, ownerId: string, by: ChangedBy) =>
      editKey(database, ledger, {
        ...{ keyId, accountId, by, decide: (row) => toOwner(row, ownerId), movesBudgets: true },
        verify: async (transaction) => mayHold(await lockRole(transaction, accountId, ownerId), 'api_key'),
      }),
    /** Deletes a key for ever. Its usage stays, and its text is never accepted again. */
    delete: edit((row) => toStatus(row, 'deleted')),
    list: listKeys.bind(null, database),
    find: findKey.bind(null, database),
    /** Replaces the key's secret. Only this call returns the new one. The old one works for `overlapMs` longer (0 to 30 days). */
    rotate: (keyId: string, overlapMs: number, accountId?: string, by: ChangedBy = OPERATOR) =>
      rotateKey(database, ledger, service, { keyId, overlapMs, accountId, by }),
    async playgroundKey(accountId: string, by: ChangedBy = OPERATOR): Promise<string> {
      if (by.actor.userId !== null) await tellOfMember(database, ledger, accountId, by.actor.userId)
      return await playgroundKeyOf(accountId, by)
    },
  }
}

async function create(
  database: Database,
  ledger: Ledger,
  service: string,
  key: NewKey,
  by: ChangedBy = OPERATOR,
): Promise<CreateKeyOutcome> {
  const { accountId, name, createdBy = null, ...settings } = key
  const keyId = randomId('key')
  const text = generateKey(service)
  const keyHash = hashKey(text)
  const own = { id: keyId, accountId, name, createdBy, keyHash, ...keyHint(text) }
  const values = { ...own, ...keyColumns(settings) }
  if (createdBy !== null) await tellOfMember(database, ledger, accountId, createdBy)
  try {
    const refusal = await database.db.transaction(async (transaction) => {
      const role = createdBy === null ? undefined : await lockRole(transaction, accountId, createdBy)
      if (createdBy !== null && !mayHold(role, 'api_key')) return role ? 'no_owner' : 'unknown_account'
      if ((await countKeys(transaction, accountId)) >= MAX_KEYS_PER_ACCOUNT) return 'too_many_keys'
      await transaction.insert(apiKeys).values(values)
      const details = { name, ...describeSettings(settings) }
      await recordAudit(transaction, { ...by, action: 'key.create', subject: keyId, accountId, details })
      return undefined
    })
    if (refusal === 'too_many_keys') return { kind: refusal, limit: MAX_KEYS_PER_ACCOUNT }
    if (refusal) return { kind: refusal }
  } catch (error) {
    if (isForeignKeyViolation(error)) return { kind: 'unknown_account' }
    throw error
  }
  // An optimisation: without it, the key's first request would look the hash up in Postgres.
  await ledger.rememberKeyHash(keyHash, { accountId, keyId }).catch(() => undefined)
  return { kind: 'created', keyId, key: text }
}

/** Loads a new member's budgets into the ledger, before the member gets a key or uses the account's playground key. */
async function tellOfMember({ db }: Database, ledger: Ledger, accountId: string, userId: string): Promise<void> {
  const ofMember = and(eq(budgets.accountId, accountId), eq(budgets.scope, 'member'), eq(budgets.scopeId, userId))
  const [budget] = await db.select({ limit: budgets.limit }).from(budgets).where(ofMember).limit(1)
  if (!budget || (await ledger.readBudgets(accountId))?.entries.has(`member:${userId}`)) return
  await ledger.reloadBudgets(accountId)
}

/** Locks the person's role in the account until the transaction ends, so that no change of role happens while a key is created. */
async function lockRole(transaction: Transaction, accountId: string, userId: string): Promise<AccountRole | undefined> {
  const [row] = await transaction
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
    .for('share')
  return row?.role
}

/** Counts the account's keys under a lock, so that concurrent creations can't exceed the maximum. */
async function countKeys(transaction: Transaction, accountId: string): Promise<number> {
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`keys of ${accountId}`}, 0))`)
  const isCounted = and(eq(apiKeys.accountId, accountId), ne(apiKeys.status, 'deleted'), isNull(apiKeys.builtIn))
  return await transaction.$count(apiKeys, isCounted)
}

type Decision = KeyEdit | Exclude<ChangeKeyOutcome, { kind: 'updated' }> | undefined

const ACTION_OF: Record<KeyStatus, string> = {
  active: 'key.activate',
  deactivated: 'key.deactivate',
  deleted: 'key.delete',
}

function toStatus(row: KeyRow, status: KeyStatus): Decision {
  if (status === 'deleted' && row.builtIn) return { kind: 'built_in' }
  if (row.status === status) return undefined
  if (row.status === 'deleted') return { kind: 'deleted' }
  const deletedAt = status === 'deleted' ? new Date() : null
  return { action: ACTION_OF[status], columns: { status, deletedAt }, details: {} }
}

function toOwner(row: KeyRow, ownerId: string): Decision {
  if (row.status === 'deleted') return { kind: 'deleted' }
  if (row.builtIn) return { kind: 'built_in' }
  if (row.createdBy === ownerId) return undefined
  return { action: 'key.transfer', columns: { createdBy: ownerId }, details: { before: row.createdBy, after: ownerId } }
}

function toChanged(row: KeyRow, { name, ...settings }: KeyChanges): Decision {
  if (row.status === 'deleted') return { kind: 'deleted' }
  const isRenamed = name !== undefined && name !== row.name
  if (isRenamed && row.builtIn) return { kind: 'built_in' }
  const columns = { ...(isRenamed && { name }), ...keyColumns(settings) }
  if (Object.keys(columns).length === 0) return undefined
  const details = {
    ...(isRenamed && { newName: name }),
    ...prefixed('before.', describeSettings(settings, settingsOf(row))),
    ...describeSettings(settings),
  }
  return { action: 'key.change', columns, details }
}

function prefixed<T>(prefix: string, values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]))
}
