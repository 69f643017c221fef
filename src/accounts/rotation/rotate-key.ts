/**
 * Rotates an API key's secret; its other fields stay. The old secret works during the overlap. Still older ones end, so at most two work.
 */
import { and, eq, gt } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { type ChangeKeyOutcome, tellLedger } from '@/accounts/edit-key'
import { generateKey, hashKey, keyHint } from '@/accounts/key-text'
import type { Database, Transaction } from '@/db/client'
import { apiKeys, keySecrets } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'

/** `key`: the key's new text, its only copy. `formerEndsAt`: the time at which the old secret ends. */
type RotateKeyOutcome =
  | { kind: 'rotated'; key: string; formerEndsAt: Date }
  | Exclude<ChangeKeyOutcome, { kind: 'updated' }>

type Rotation = {
  keyId: string
  accountId: string | undefined
  /** Milliseconds for which the old secret still works, 0 to {@link MAX_OVERLAP_MS}. */
  overlapMs: number
  by: ChangedBy
}

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
export const DEFAULT_OVERLAP = '24h'
/** The rule for an overlap, as text for error messages. */
export const OVERLAP_RULE = 'must be 0, or a number with s, m, h or d such as 24h, and at most 30d'
export const MAX_OVERLAP_MS = 30 * 86_400_000

/** Reads `0`, `90s`, `30m`, `24h` or `7d` as milliseconds; undefined for anything else, and for more than 30 days. */
export function parseOverlap(text: string): number | undefined {
  if (text === '0') return 0
  const [, count, unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  const overlapMs = Number(count) * (UNITS_MS[unit] ?? Number.NaN)
  return overlapMs <= MAX_OVERLAP_MS ? overlapMs : undefined
}

/** Rotates a key of `service`. Throws without a change if the ledger is down. If it fails later, the new secret's first use repairs it. */
export async function rotateKey(
  database: Database,
  ledger: Ledger,
  service: string,
  rotation: Rotation,
): Promise<RotateKeyOutcome> {
  const { keyId } = rotation
  const [owner] = await database.db.select({ accountId: apiKeys.accountId }).from(apiKeys).where(eq(apiKeys.id, keyId))
  if (!owner) return { kind: 'unknown_key' }
  await ledger.readKey({ ...owner, keyId })
  const key = generateKey(service)
  const outcome = await database.db.transaction((transaction) => replaceSecret(transaction, rotation, key))
  if (outcome.kind !== 'rotated') return outcome
  const { accountId, latest, formerEndsAt } = outcome
  await tellLedger(database, ledger, keyId).catch(() => undefined)
  await ledger.rememberKeyHash(hashKey(key), { accountId, keyId, secret: latest }).catch(() => undefined)
  return { kind: 'rotated', key, formerEndsAt }
}

type Replaced = { kind: 'rotated'; accountId: string; latest: number; formerEndsAt: Date }

async function replaceSecret(
  transaction: Transaction,
  { keyId, accountId, overlapMs, by }: Rotation,
  key: string,
): Promise<Replaced | Exclude<RotateKeyOutcome, { kind: 'rotated' }>> {
  const mine = and(eq(apiKeys.id, keyId), accountId === undefined ? undefined : eq(apiKeys.accountId, accountId))
  const [row] = await transaction.select().from(apiKeys).where(mine).for('no key update')
  if (!row) return { kind: 'unknown_key' }
  if (row.status === 'deleted') return { kind: 'deleted' }
  if (row.builtIn) return { kind: 'built_in' }
  const now = new Date()
  const formerEndsAt = new Date(now.getTime() + overlapMs)
  const isLive = and(eq(keySecrets.keyId, keyId), gt(keySecrets.endsAt, now))
  await transaction.update(keySecrets).set({ endsAt: now }).where(isLive)
  const { keyHash, lastFour, secretOrdinal: ordinal } = row
  await transaction.insert(keySecrets).values({ keyHash, keyId, ordinal, lastFour, endsAt: formerEndsAt })
  const latest = ordinal + 1
  const columns = {
    keyHash: hashKey(key),
    ...keyHint(key),
    secretOrdinal: latest,
    secretSince: now,
    formerSecretEndsAt: formerEndsAt,
  }
  await transaction.update(apiKeys).set(columns).where(eq(apiKeys.id, keyId))
  const details = { name: row.name, lastFour: columns.lastFour, formerEndsAt: formerEndsAt.toISOString() }
  await recordAudit(transaction, { ...by, action: 'key.rotate', subject: keyId, accountId: row.accountId, details })
  return { kind: 'rotated', accountId: row.accountId, latest, formerEndsAt }
}
