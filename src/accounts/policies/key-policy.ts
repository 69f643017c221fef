/** What holds for all keys of an account: read and changed by people, and told to the ledger for each key. */
import { eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { tellLedgerOfAll } from '@/accounts/edit-key'
import { lockAccount } from '@/accounts/in-order'
import type { AuditDetails } from '@/db/administration-schema'
import type { Database } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import { type KeyPolicy, POLICY_COLUMNS } from './effective-limits'

/** Ten years. */
export const MAX_KEY_AGE_DAYS = 3650

/** Undefined where there is no such account. */
export async function readKeyPolicy({ db }: Database, accountId: string): Promise<KeyPolicy | undefined> {
  const [row] = await db.select(POLICY_COLUMNS).from(accounts).where(eq(accounts.id, accountId))
  return row
}

type PolicyChange = { accountId: string; policy: Partial<KeyPolicy>; by: ChangedBy }

/**
 * Changes what `policy` names, with an audit entry, and tells the ledger for each of the account's keys. Throws where the ledger can't be reached:
 * the history has it by then, and the same call again tells the rest.
 */
export async function changeKeyPolicy(
  database: Database,
  ledger: Ledger,
  { accountId, policy, by }: PolicyChange,
): Promise<'updated' | 'unknown_account'> {
  const isKnown = await database.db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before) return false
    const { allowedModels, allowedProviders, maxKeyAgeDays }: KeyPolicy = { ...before, ...policy }
    const after = {
      allowedModels: allowedModels && [...allowedModels],
      allowedProviders: allowedProviders && [...allowedProviders],
      maxKeyAgeDays,
    }
    await transaction.update(accounts).set(after).where(eq(accounts.id, accountId))
    const details = { ...describe(after), ...prefixed(describe(before)) }
    await recordAudit(transaction, { ...by, action: 'account.key_policy', subject: accountId, accountId, details })
    return true
  })
  if (!isKnown) return 'unknown_account'
  await tellLedgerOfAll(database, ledger, accountId)
  return 'updated'
}

function describe({ allowedModels, allowedProviders, maxKeyAgeDays }: KeyPolicy) {
  const told = (ids: readonly string[] | null) => ids?.join(', ') ?? 'every'
  return { allowedModels: told(allowedModels), allowedProviders: told(allowedProviders), maxKeyAgeDays }
}

function prefixed(details: ReturnType<typeof describe>): AuditDetails {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [`before.${name}`, value]))
}
