/** Limits that apply to all keys of an account together. Only administrators set them. */
import { eq } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { AccountLimits, DefaultLimits } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { MAX_KEY_LIMIT } from '@/people/keys/fields'
import { tellLedger } from './accounts'
import { type ChangedBy, recordAudit } from './audit'
import { lockAccount } from './in-order'

const NAMES = ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const

/** A missing limit stays unchanged; `null`: the catalogue's default. `reason` goes to the audit log. */
export type AccountLimitsChange = { accountId: string; limits: Partial<AccountLimits>; reason: string; by: ChangedBy }

/** Changes limits in Postgres and the audit log, then on every gateway. Throws if the ledger is unreachable: call it again. */
export async function changeAccountLimits(
  database: Database,
  ledger: Ledger,
  { accountId, limits, reason, by }: AccountLimitsChange,
): Promise<'updated' | 'unknown_account'> {
  for (const name of NAMES) {
    const limit = limits[name]
    assert(
      limit == null || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_KEY_LIMIT),
      'a limit is out of range',
    )
  }
  const isKnown = await database.db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before) return false
    const changed = NAMES.filter((name) => limits[name] !== undefined && limits[name] !== before[name])
    if (changed.length === 0) return true
    const after = Object.fromEntries(changed.map((name) => [name, limits[name] ?? null]))
    await transaction.update(accounts).set(after).where(eq(accounts.id, accountId))
    const details = { ...after, ...Object.fromEntries(changed.map((name) => [`before.${name}`, before[name]])), reason }
    await recordAudit(transaction, { ...by, action: 'account.limits', subject: accountId, accountId, details })
    return true
  })
  if (!isKnown) return 'unknown_account'
  await tellLedger(database, ledger, accountId)
  return 'updated'
}

/** The limits of an account, with the catalogue's defaults for those it doesn't set. */
export function ceilingsOf(limits: AccountLimits, defaults: DefaultLimits): DefaultLimits {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits
  return {
    requestsPerMinute: requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: tokensPerMinute ?? defaults.tokensPerMinute,
    concurrency: concurrency ?? defaults.concurrency,
  }
}

/** The entries of a key's `limits` that are higher than its account's limits (`ceilings`). */
export function limitsAbove(limits: Partial<AccountLimits>, ceilings: DefaultLimits): Partial<DefaultLimits> {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const limit = limits[name]
      return limit != null && limit > ceilings[name] ? [[name, limit]] : []
    }),
  )
}
