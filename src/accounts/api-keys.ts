/** The life of an API key: created (and shown once), deactivated, activated, deleted. The history first, then every gateway at once. */
import { and, desc, eq, ne, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { isForeignKeyViolation } from '@/db/failure'
import { apiKeys } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { KeyLimits, KeyStatus } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import type { Nano } from '@/lib/money'
import { inOrder } from './in-order'
import { generateKey, hashKey, keyHint } from './key-text'

/** Limits are integers from 1 to {@link MAX_KEY_LIMIT}, which is asserted. Those left out are the catalogue's defaults (requests, tokens, concurrency) or none. */
export type NewKey = Partial<KeyLimits> & {
  accountId: string
  /** 1 to 200 characters. */
  name: string
  /** Ids of the models that may be called; left out = all. */
  allowedModels?: string[]
}

/** `key` is the only copy of the key's text; it is not stored. */
export type CreateKeyOutcome = { kind: 'created'; keyId: string; key: string } | { kind: 'unknown_account' }

/** `unknown_key` also where the key belongs to another account. A deleted key stays deleted. */
export type ChangeKeyOutcome = { kind: 'updated'; status: KeyStatus } | { kind: 'unknown_key' } | { kind: 'deleted' }

export type KeyListing = KeyLimits & {
  keyId: string
  accountId: string
  name: string
  /** The first characters of the key's text, e.g. `svc-AbCd`, and its last four. */
  prefix: string
  lastFour: string
  status: KeyStatus
  allowedModels: string[] | null
  /** Charges in the calendar month `spentMonth` (yyyymm, UTC) that have reached the history. */
  spentThisMonth: Nano
  spentMonth: number
  lastUsedAt: Date | null
  createdAt: Date
}

/** All changes throw where the ledger can't be told; the history has the change by then, and repeating the call mends the rest. */
export interface ApiKeys {
  create(key: NewKey): Promise<CreateKeyOutcome>
  /** With `accountId`, only where the key belongs to that account. */
  deactivate(keyId: string, accountId?: string): Promise<ChangeKeyOutcome>
  activate(keyId: string, accountId?: string): Promise<ChangeKeyOutcome>
  /** For ever: the key's usage stays in the history, its text is never accepted again. */
  delete(keyId: string, accountId?: string): Promise<ChangeKeyOutcome>
  /** The account's keys without deleted ones, newest first. */
  list(accountId: string): Promise<KeyListing[]>
}

/** The highest limit of a key that the column of requests per minute holds; far beyond what one gateway serves. */
export const MAX_KEY_LIMIT = 2_000_000_000

/** Keys of `service` (the catalogue's `service`) in `database`, with `ledger` as what gateways obey. */
export function createApiKeys(database: Database, ledger: Ledger, service: string): ApiKeys {
  const changeTo = (status: KeyStatus) => (keyId: string, accountId?: string) =>
    changeStatus(database, ledger, keyId, accountId, status)
  return {
    create: (key) => create(database, ledger, service, key),
    deactivate: changeTo('deactivated'),
    activate: changeTo('active'),
    delete: changeTo('deleted'),
    list: (accountId) => list(database, accountId),
  }
}

async function create(database: Database, ledger: Ledger, service: string, key: NewKey): Promise<CreateKeyOutcome> {
  const { expiresAtMs, ...columns } = key
  for (const limit of [key.requestsPerMinute, key.tokensPerMinute, key.concurrency]) {
    assert(
      limit == null || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_KEY_LIMIT),
      'a limit is out of range',
    )
  }
  const keyId = randomId('key')
  const text = generateKey(service)
  const keyHash = hashKey(text)
  try {
    await database.db.insert(apiKeys).values({
      ...columns,
      id: keyId,
      keyHash,
      ...keyHint(text),
      expiresAt: expiresAtMs === undefined || expiresAtMs === null ? null : new Date(expiresAtMs),
    })
  } catch (error) {
    if (isForeignKeyViolation(error)) return { kind: 'unknown_account' }
    throw error
  }
  // Only a short cut: without it the first request reads the history.
  await ledger.rememberKeyHash(keyHash, { accountId: key.accountId, keyId }).catch(() => undefined)
  return { kind: 'created', keyId, key: text }
}

async function changeStatus(
  database: Database,
  ledger: Ledger,
  keyId: string,
  accountId: string | undefined,
  status: KeyStatus,
): Promise<ChangeKeyOutcome> {
  const mine = and(eq(apiKeys.id, keyId), accountId === undefined ? undefined : eq(apiKeys.accountId, accountId))
  const deletedAt = status === 'deleted' ? sql`coalesce(${apiKeys.deletedAt}, now())` : null
  const changeable = status === 'deleted' ? mine : and(mine, ne(apiKeys.status, 'deleted'))
  const changed = await database.db
    .update(apiKeys)
    .set({ status, deletedAt })
    .where(changeable)
    .returning({ id: apiKeys.id })
  if (changed.length > 0) {
    await inOrder(database, `key ${keyId}`, (transaction) => writeThrough(transaction, ledger, keyId))
    return { kind: 'updated', status }
  }
  const [present] = await database.db.select({ id: apiKeys.id }).from(apiKeys).where(mine)
  return present ? { kind: 'deleted' } : { kind: 'unknown_key' }
}

/** Tells the ledger what the history says of the key now. */
async function writeThrough(transaction: Transaction, ledger: Ledger, keyId: string): Promise<void> {
  const [row] = await transaction.select().from(apiKeys).where(eq(apiKeys.id, keyId))
  if (!row) return
  await ledger.setKeyState({ ...limitsOf(row), accountId: row.accountId, keyId, status: row.status })
  if (row.status === 'deleted') await ledger.forgetKeyHash(row.keyHash)
}

async function list({ db }: Database, accountId: string): Promise<KeyListing[]> {
  const rows = await db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), ne(apiKeys.status, 'deleted')))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
  return rows.map((row) => ({
    ...limitsOf(row),
    keyId: row.id,
    accountId: row.accountId,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.lastFour,
    status: row.status,
    allowedModels: row.allowedModels,
    spentThisMonth: row.spentThisMonth,
    spentMonth: row.spentMonth,
    lastUsedAt: row.lastUsedAt,
    createdAt: row.createdAt,
  }))
}

function limitsOf(row: typeof apiKeys.$inferSelect): KeyLimits {
  return {
    requestsPerMinute: row.requestsPerMinute,
    tokensPerMinute: row.tokensPerMinute,
    concurrency: row.concurrency,
    monthlyBudget: row.monthlyBudget,
    expiresAtMs: row.expiresAt === null ? null : row.expiresAt.getTime(),
  }
}
