/** Reads and changes the settings of an account. Postgres has only the settings that somebody changed. */
import { eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import type { Database } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import { type ChosenSettings, SETTING_ROWS, type Settings, settingsOf } from '@/people/settings/fields'

type SettingsChange = {
  accountId: string
  chosen: ChosenSettings
  by: ChangedBy
  /** Gets the current settings, whose row is locked. May throw to refuse the change. */
  check?: ((before: Settings) => void) | undefined
}

/** The settings of an account; undefined if there is no such account. */
export async function readAccountSettings({ db }: Database, accountId: string): Promise<Settings | undefined> {
  const account = await findRow(db, accounts, eq(accounts.id, accountId))
  return account && settingsOf(account.settings)
}

/** Changes settings, with an audit entry. They apply from each member's next request on. Does nothing if the account doesn't exist. */
export async function changeAccountSettings(
  { db }: Database,
  { accountId, chosen, by, check }: SettingsChange,
): Promise<'updated' | 'unknown_account'> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return 'unknown_account'
    const before = settingsOf(account.settings)
    check?.(before)
    const now = { ...before, ...chosen }
    const changed = SETTING_ROWS.filter(({ name }) => now[name] !== before[name])
    if (changed.length === 0) return 'updated'
    await transaction
      .update(accounts)
      .set({ settings: { ...account.settings, ...chosen } })
      .where(eq(accounts.id, accountId))
    const details = Object.fromEntries(
      changed.flatMap(({ name }) => [
        [name, now[name]],
        [`before.${name}`, before[name]],
      ]),
    )
    await recordAudit(transaction, { ...by, action: 'account.member_policy', subject: accountId, accountId, details })
    return 'updated'
  })
}
