/** The balances below which an account's alerts are sent. */
import { eq } from 'drizzle-orm'
import { PAUSE_MS } from '@/accounts/alerts/crossings'
import { type AlertThresholds, DEFAULT_THRESHOLDS, THRESHOLDS } from '@/accounts/alerts/thresholds'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { alertLooks, alertSettings, alertStates } from '@/db/alert-schema'
import type { Database, Transaction } from '@/db/client'
import { formatUsd } from '@/lib/money'

/** The account's thresholds, or the defaults. */
export async function readThresholds(db: Database['db'] | Transaction, accountId: string): Promise<AlertThresholds> {
  const [row] = await db.select().from(alertSettings).where(eq(alertSettings.accountId, accountId))
  return row ? { first: row.first, second: row.second } : DEFAULT_THRESHOLDS
}

/** Thresholds as decimal USD; null: no alert. */
export function thresholdsInUsd({ first, second }: AlertThresholds) {
  return {
    firstUsd: first === null ? null : formatUsd(first),
    secondUsd: second === null ? null : formatUsd(second),
  }
}

/** `updated_below`: the balance is already below a changed threshold, so its alert is sent now. */
type ChangeOutcome = 'updated' | 'updated_below' | 'unknown_account' | 'second_not_lower'

/** Changes the given thresholds. */
export async function changeThresholds(
  { db }: Database,
  { accountId, by, ...change }: { accountId: string; by: ChangedBy } & Partial<AlertThresholds>,
): Promise<ChangeOutcome> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return 'unknown_account'
    const before = await readThresholds(transaction, accountId)
    const after = { ...before, ...change }
    if (after.first !== null && after.second !== null && after.second >= after.first) return 'second_not_lower'
    await transaction
      .insert(alertSettings)
      .values({ accountId, ...after })
      .onConflictDoUpdate({ target: alertSettings.accountId, set: after })
    const former = Object.entries(thresholdsInUsd(before)).map(([name, usd]) => [`before.${name}`, usd])
    const details = { ...Object.fromEntries(former), ...thresholdsInUsd(after) }
    await recordAudit(transaction, { ...by, action: 'account.alerts', subject: accountId, accountId, details })
    const below = THRESHOLDS.filter(({ field }) => {
      const threshold = after[field]
      return threshold !== null && threshold !== before[field] && account.balance < threshold
    })
    for (const { name } of below) await sendSoon(transaction, accountId, name)
    return below.length > 0 ? 'updated_below' : 'updated'
  })
}

/** Stores the alert as pending. The next check would find no crossing, because the balance was already below the threshold. */
async function sendSoon(transaction: Transaction, accountId: string, name: string): Promise<void> {
  // For accounts that were never checked, the next check would ignore the pending alert.
  await transaction.insert(alertLooks).values({ accountId }).onConflictDoNothing()
  const pending = { isPending: true, mark: 0, firedAt: new Date(Date.now() - PAUSE_MS) }
  await transaction
    .insert(alertStates)
    .values({ accountId, name, ...pending })
    .onConflictDoUpdate({ target: [alertStates.accountId, alertStates.name], set: pending })
}
