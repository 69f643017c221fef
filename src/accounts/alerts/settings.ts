/** An account's alert thresholds, and the kinds of alert mails each person wants. */
import { and, eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { ALERT_KINDS, type AlertKind, alertLooks, alertOptOuts, alertSettings, alertStates } from '@/db/alert-schema'
import type { Database, Transaction } from '@/db/client'
import { formatUsd, NANO_PER_USD, type Nano, nano } from '@/lib/money'
import { PAUSE_MS } from './crossings'

export type AlertSettings = { first: Nano | null; second: Nano | null }

export const THRESHOLDS = [
  { field: 'first', name: 'balance:first' },
  { field: 'second', name: 'balance:second' },
] as const

export const DEFAULT_THRESHOLDS = { first: nano(10 * NANO_PER_USD), second: nano(2 * NANO_PER_USD) }

/** `updated_below`: the balance is already below a changed threshold, so its alert is sent now. */
export type ChangeAlertsOutcome = 'updated' | 'updated_below' | 'unknown_account' | 'second_not_lower'

/** The account's settings, or the defaults. */
export async function readSettings(db: Database['db'] | Transaction, accountId: string): Promise<AlertSettings> {
  const [row] = await db.select().from(alertSettings).where(eq(alertSettings.accountId, accountId))
  return row ? { first: row.first, second: row.second } : DEFAULT_THRESHOLDS
}

/** Changes the given thresholds, with an audit entry. */
export async function changeSettings(
  { db }: Database,
  { accountId, by, ...change }: { accountId: string; by: ChangedBy } & Partial<AlertSettings>,
): Promise<ChangeAlertsOutcome> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return 'unknown_account'
    const before = await readSettings(transaction, accountId)
    const after = { ...before, ...change }
    if (after.first !== null && after.second !== null && after.second >= after.first) return 'second_not_lower'
    const set = { first: after.first, second: after.second }
    await transaction
      .insert(alertSettings)
      .values({ accountId, ...set })
      .onConflictDoUpdate({ target: alertSettings.accountId, set })
    const details = { ...detailsOf('before.', before), ...detailsOf('', set) }
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
  // A check reads states only of accounts that were checked before.
  await transaction.insert(alertLooks).values({ accountId }).onConflictDoNothing()
  const pending = { isPending: true, mark: 0, firedAt: new Date(Date.now() - PAUSE_MS) }
  await transaction
    .insert(alertStates)
    .values({ accountId, name, ...pending })
    .onConflictDoUpdate({ target: [alertStates.accountId, alertStates.name], set: pending })
}

function detailsOf(prefix: string, { first, second }: AlertSettings) {
  return {
    [`${prefix}firstUsd`]: first === null ? null : formatUsd(first),
    [`${prefix}secondUsd`]: second === null ? null : formatUsd(second),
  }
}

/** The kinds of an account's alerts that an address gets. */
export async function readChoices(
  { db }: Database,
  accountId: string,
  email: string,
): Promise<Record<AlertKind, boolean>> {
  const rows = await db
    .select({ kind: alertOptOuts.kind })
    .from(alertOptOuts)
    .where(and(eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.email, email.toLowerCase())))
  const without = new Set(rows.map(({ kind }) => kind))
  return Object.fromEntries(ALERT_KINDS.map((kind) => [kind, !without.has(kind)])) as Record<AlertKind, boolean>
}

/** Turns a kind of alert on or off for one address. A repeated call changes nothing. */
export async function choose(
  { db }: Database,
  { accountId, email, kind, isWanted }: { accountId: string; email: string; kind: AlertKind; isWanted: boolean },
): Promise<void> {
  const row = { accountId, email: email.toLowerCase(), kind }
  if (!isWanted) return void (await db.insert(alertOptOuts).values(row).onConflictDoNothing())
  const own = [eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.email, row.email), eq(alertOptOuts.kind, kind)]
  await db.delete(alertOptOuts).where(and(...own))
}
