/** API keys as people see them: never the key's text, only its first characters and its last four. */
import { and, desc, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import { users } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { accounts, apiKeys, type BuiltInKey, keySecrets } from '@/db/schema'
import type { KeySecrets, KeyStatus } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import type { KeySettings } from '@/people/keys/fields'
import { limitsOf, settingsOf } from './key-limits'
import { effectiveLimits, type KeyPolicy, POLICY_COLUMNS } from './policies/effective-limits'

export type KeyListing = KeySettings & {
  keyId: string
  accountId: string
  name: string
  /** The first characters of the key's text, e.g. `svc-AbCd`, and its last four. */
  prefix: string
  lastFour: string
  status: KeyStatus
  builtIn: BuiltInKey | null
  /** The key's member; null for keys of the whole account. */
  createdBy: string | null
  createdByName: string | null
  /** Charges of the calendar month `spentMonth` (yyyymm, UTC) in Postgres. */
  spentThisMonth: Nano
  spentMonth: number
  lastUsedAt: Date | null
  createdAt: Date
  endsAtMs: number | null
  /** The former secret while it still works. */
  formerSecret: { lastFour: string; endsAt: Date; lastUsedAt: Date | null } | null
}

type KeyRow = typeof apiKeys.$inferSelect

/** The account's keys without deleted ones, newest first. */
export async function listKeys({ db }: Database, accountId: string): Promise<KeyListing[]> {
  const rows = await selectKeys(db)
    .where(and(eq(apiKeys.accountId, accountId), ne(apiKeys.status, 'deleted')))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
  return rows.map(listingOf)
}

/** A key of the account that is not deleted. */
export async function findKey({ db }: Database, accountId: string, keyId: string): Promise<KeyListing | undefined> {
  const [row] = await selectKeys(db).where(
    and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt)),
  )
  return row && listingOf(row)
}

function selectKeys(db: Database['db']) {
  const isFormer = and(eq(keySecrets.keyId, apiKeys.id), gt(keySecrets.endsAt, sql`now()`))
  return db
    .select({
      key: apiKeys,
      createdByName: users.name,
      former: keySecrets,
      policy: POLICY_COLUMNS,
    })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .leftJoin(users, eq(users.id, apiKeys.createdBy))
    .leftJoin(keySecrets, isFormer)
}

type Row = {
  key: KeyRow
  createdByName: string | null
  former: typeof keySecrets.$inferSelect | null
  policy: KeyPolicy
}

function listingOf({ key: row, createdByName, former, policy }: Row): KeyListing {
  return {
    ...settingsOf(row),
    keyId: row.id,
    accountId: row.accountId,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.lastFour,
    status: row.status,
    builtIn: row.builtIn,
    createdBy: row.createdBy,
    createdByName,
    spentThisMonth: row.spentThisMonth,
    spentMonth: row.spentMonth,
    lastUsedAt: row.lastUsedAt,
    createdAt: row.createdAt,
    endsAtMs: effectiveLimits(limitsOf(row), policy, null, ageOf(row)).expiresAtMs,
    formerSecret: former && { lastFour: former.lastFour, endsAt: former.endsAt, lastUsedAt: former.lastUsedAt },
  }
}

/** The times from which the age of a key's secret is computed. */
export function ageOf({ createdAt, secretSince, builtIn }: KeyRow) {
  return {
    createdAtMs: createdAt.getTime(),
    secretSinceMs: secretSince?.getTime() ?? null,
    isBuiltIn: builtIn !== null,
  }
}

/** The key's valid secrets; undefined for a key that was never rotated. */
export function secretsOf({ secretOrdinal, formerSecretEndsAt }: KeyRow): KeySecrets | undefined {
  return formerSecretEndsAt === null
    ? undefined
    : { latest: secretOrdinal, formerEndsAtMs: formerSecretEndsAt.getTime() }
}
