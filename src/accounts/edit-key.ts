/** Changes one key: Postgres and the audit entry in one transaction, then the ledger, which applies to every gateway at once. */
import { and, eq, ne } from 'drizzle-orm'
import type { AuditDetails } from '@/db/administration-schema'
import { memberships } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { accounts, apiKeys, keySecrets } from '@/db/schema'
import { addressListsOf } from '@/ledger/address-lists'
import type { Ledger } from '@/ledger/ledger'
import type { KeyStatus } from '@/ledger/outcomes'
import { type ChangedBy, recordAudit } from './audit'
import { inOrder } from './in-order'
import { describeAddresses, limitsOf } from './key-limits'
import { ageOf, secretsOf } from './key-listing'
import { tellOfAddresses } from './members/tell-members'
import { effectiveLimits, MEMBER_POLICY_COLUMNS, POLICY_COLUMNS } from './policies/effective-limits'

/** `unknown_key` also if the key belongs to another account. A deleted key stays deleted. */
export type ChangeKeyOutcome =
  | { kind: 'updated'; status: KeyStatus }
  | { kind: 'unknown_key' }
  | { kind: 'deleted' }
  /** A key that the service itself uses; it cannot be changed this way. */
  | { kind: 'built_in' }
  | { kind: 'no_owner' }

export type KeyRow = typeof apiKeys.$inferSelect

export type KeyEdit = { action: string; columns: Partial<typeof apiKeys.$inferInsert>; details: AuditDetails }

type EditRequest = {
  keyId: string
  accountId: string | undefined
  by: ChangedBy
  decide(row: KeyRow): KeyEdit | Exclude<ChangeKeyOutcome, { kind: 'updated' }> | undefined
  /** Checked before `decide`. The rows it reads must stay locked until the change. */
  verify?(transaction: Transaction, row: KeyRow): Promise<boolean>
  /** Set if the key will spend from another member's budgets: then the account's budgets are reloaded before the key. */
  movesBudgets?: true
}

/** Throws if the ledger is unreachable. Postgres has the change then, and repeating the call completes it. */
export async function editKey(database: Database, ledger: Ledger, request: EditRequest): Promise<ChangeKeyOutcome> {
  const outcome = await database.db.transaction((transaction) => editHistory(transaction, request))
  if (outcome.kind !== 'updated') return outcome
  if (request.movesBudgets) await reloadBudgets(database, ledger, request.keyId)
  await tellLedger(database, ledger, request.keyId)
  return outcome
}

/** Reloads budgets. Call it outside transactions: it takes a connection from the pool, and transactions waiting for one could deadlock. */
async function reloadBudgets({ db }: Database, ledger: Ledger, keyId: string): Promise<void> {
  const [key] = await db.select({ accountId: apiKeys.accountId }).from(apiKeys).where(eq(apiKeys.id, keyId))
  if (key) await ledger.reloadBudgets(key.accountId)
}

/** Copies the state of an account's keys, or of `userId`'s keys in it, from Postgres to the ledger. Throws if the ledger is unreachable. */
export async function tellLedgerOfAll(
  database: Database,
  ledger: Ledger,
  accountId: string,
  userId?: string,
): Promise<void> {
  const isTheirs = userId === undefined ? undefined : eq(apiKeys.createdBy, userId)
  const isOwn = and(eq(apiKeys.accountId, accountId), isTheirs, ne(apiKeys.status, 'deleted'))
  for (const { id } of await database.db.select({ id: apiKeys.id }).from(apiKeys).where(isOwn)) {
    await tellLedger(database, ledger, id)
  }
}

/** Copies the key's state from Postgres to the ledger. Throws if the ledger is unreachable. */
export async function tellLedger(database: Database, ledger: Ledger, keyId: string): Promise<void> {
  await inOrder(database, `key ${keyId}`, (transaction) => writeThrough(transaction, ledger, keyId))
}

async function editHistory(transaction: Transaction, request: EditRequest): Promise<ChangeKeyOutcome> {
  const { keyId, accountId, by, decide, verify } = request
  const mine = and(eq(apiKeys.id, keyId), accountId === undefined ? undefined : eq(apiKeys.accountId, accountId))
  const [row] = await transaction.select().from(apiKeys).where(mine).for('no key update')
  if (!row) return { kind: 'unknown_key' }
  if (verify && !(await verify(transaction, row))) return { kind: 'no_owner' }
  const edit = decide(row)
  if (!edit) return { kind: 'updated', status: row.status }
  if ('kind' in edit) return edit
  await transaction.update(apiKeys).set(edit.columns).where(eq(apiKeys.id, keyId))
  const { action, details } = edit
  await recordAudit(transaction, {
    ...by,
    action,
    subject: keyId,
    accountId: row.accountId,
    details: { name: row.name, ...details },
  })
  const { allowedAddresses } = edit.columns
  if (allowedAddresses !== undefined && describeAddresses(allowedAddresses) !== describeAddresses(row.allowedAddresses))
    await tellOfAddresses(transaction, { accountId: row.accountId, by }, allowedAddresses, row)
  return { kind: 'updated', status: edit.columns.status ?? row.status }
}

async function writeThrough(transaction: Transaction, ledger: Ledger, keyId: string): Promise<void> {
  const [found] = await transaction
    .select({
      row: apiKeys,
      ofAccount: accounts.allowedAddresses,
      policy: POLICY_COLUMNS,
      // A column that is never null must come first: if it is null, the query builder decides that there is no joined row.
      ofMember: { userId: memberships.userId, ...MEMBER_POLICY_COLUMNS },
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(memberships, and(eq(memberships.accountId, apiKeys.accountId), eq(memberships.userId, apiKeys.createdBy)))
    .where(eq(apiKeys.id, keyId))
  if (!found) return
  const { row, ofAccount, policy, ofMember } = found
  const { accountId, status } = row
  const addresses = addressListsOf(ofAccount, row.allowedAddresses)
  const own = limitsOf(row)
  const limits = { ...own, ...effectiveLimits(own, policy, ofMember, ageOf(row)) }
  await ledger.setKeyState({
    ...limits,
    accountId,
    keyId,
    status,
    secrets: secretsOf(row),
    addresses,
    ownerId: row.createdBy,
  })
  if (status === 'deleted') await forgetHashes(transaction, ledger, row)
}

/** Removes a deleted key's hashes from the ledger. A gateway that cached a hash refuses the key by its status. */
async function forgetHashes(transaction: Transaction, ledger: Ledger, { id, keyHash }: KeyRow): Promise<void> {
  const former = await transaction
    .select({ keyHash: keySecrets.keyHash })
    .from(keySecrets)
    .where(eq(keySecrets.keyId, id))
  for (const each of [{ keyHash }, ...former]) await ledger.forgetKeyHash(each.keyHash)
}
