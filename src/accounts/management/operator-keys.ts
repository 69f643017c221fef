/** Creates (and shows once), lists, revokes and identifies operator keys, with which the operator's own programs use the operator's API. */
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { generateProgramKey, hashKey, isProgramKey } from '@/accounts/key-text'
import type { Database } from '@/db/client'
import { operatorKeys } from '@/db/management-schema'
import type { Addresses } from '@/ledger/address-lists'
import { randomId } from '@/lib/ids'

/** The scopes of an operator key. Each allows one kind of action; `read` allows reading all data. */
export const OPERATOR_SCOPES = ['accounts', 'credit', 'keys', 'read'] as const

export type OperatorScope = (typeof OPERATOR_SCOPES)[number]

type NewOperatorKey = {
  /** 1 to 200 characters. */
  name: string
  scopes: readonly OperatorScope[]
  expiresAt: Date | null
  /** Networks from which the key may be used. */
  allowedAddresses: Addresses
}

/** The data of a valid key that a request needs. */
export type OperatorKey = { keyId: string; name: string; scopes: readonly string[]; allowedAddresses: Addresses }

export type OperatorKeys = ReturnType<typeof createOperatorKeys>

/** Minimum interval between two writes of a key's last use. */
const TOUCH_MS = 60_000

/** Operator keys of `service` in `database`. */
export function createOperatorKeys(database: Database, service: string) {
  return {
    create: create.bind(null, database, service),
    list: list.bind(null, database),
    revoke: revoke.bind(null, database),
    /** Undefined for invalid, revoked and expired keys. Reads Postgres each time, so a revoked key is refused at once everywhere. */
    identify: async (text: string) => (isProgramKey(text, service, 'op') ? await identify(database, text) : undefined),
  }
}

/** `key` is the only copy of the key's text. */
async function create({ db }: Database, service: string, created: NewOperatorKey, by: ChangedBy) {
  const { name, scopes, expiresAt, allowedAddresses } = created
  const { key, prefix, lastFour } = generateProgramKey(service, 'op')
  const keyId = randomId('opkey')
  await db.transaction(async (transaction) => {
    const row = { id: keyId, name, keyHash: hashKey(key), prefix, lastFour, expiresAt }
    await transaction
      .insert(operatorKeys)
      .values({ ...row, scopes: [...scopes], allowedAddresses: allowedAddresses && [...allowedAddresses] })
    const details = {
      ...{ name, scopes: scopes.join(', '), expiresAt: expiresAt?.toISOString() ?? null },
      addresses: allowedAddresses?.join(', ') ?? null,
    }
    await recordAudit(transaction, { ...by, action: 'operator_key.create', subject: keyId, accountId: null, details })
  })
  return { keyId, key }
}

/** Keys that are not revoked, newest first, including expired ones. */
async function list({ db }: Database) {
  const rows = await db
    .select()
    .from(operatorKeys)
    .where(isNull(operatorKeys.revokedAt))
    .orderBy(desc(operatorKeys.createdAt), desc(operatorKeys.id))
  return rows.map(({ id: keyId, keyHash: _, revokedAt: __, ...key }) => ({ keyId, ...key }))
}

/** Revokes a key for ever, from its next request on. */
async function revoke({ db }: Database, keyId: string, by: ChangedBy): Promise<'revoked' | 'unknown_key'> {
  return await db.transaction(async (transaction) => {
    const [row] = await transaction
      .update(operatorKeys)
      .set({ revokedAt: new Date() })
      .where(and(eq(operatorKeys.id, keyId), isNull(operatorKeys.revokedAt)))
      .returning({ name: operatorKeys.name })
    if (!row) return 'unknown_key'
    const entry = { action: 'operator_key.revoke', subject: keyId, accountId: null, details: { name: row.name } }
    await recordAudit(transaction, { ...by, ...entry })
    return 'revoked'
  })
}

async function identify({ db }: Database, text: string): Promise<OperatorKey | undefined> {
  const isLive = or(isNull(operatorKeys.expiresAt), gt(operatorKeys.expiresAt, sql`now()`))
  const [row] = await db
    .select()
    .from(operatorKeys)
    .where(and(eq(operatorKeys.keyHash, hashKey(text)), isNull(operatorKeys.revokedAt), isLive))
  if (!row) return undefined
  if (Date.now() - (row.lastUsedAt?.getTime() ?? 0) >= TOUCH_MS) {
    await db.update(operatorKeys).set({ lastUsedAt: new Date() }).where(eq(operatorKeys.id, row.id))
  }
  const { id: keyId, name, scopes, allowedAddresses } = row
  return { keyId, name, scopes, allowedAddresses }
}
