/** How long an account's stored answers are kept: a setting of the account, recorded in the audit log. */
import { eq } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { accounts } from '@/db/schema'
import { type ChangedBy, recordAudit } from './audit'
import { lockAccount } from './in-order'

/** Ten years. */
export const MAX_STORED_HOURS = 87_600

/** `hours` 0: answers are not stored. null: they are stored for the operator's maximum time. */
type StoredHoursChange = { accountId: string; hours: number | null; by: ChangedBy }

/** Changes the setting, with an audit entry if it differs. */
export async function changeStoredHours({ db }: Database, { accountId, hours, by }: StoredHoursChange): Promise<void> {
  await db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before || before.storedResponseHours === hours) return
    await transaction.update(accounts).set({ storedResponseHours: hours }).where(eq(accounts.id, accountId))
    const details = { hours, 'before.hours': before.storedResponseHours }
    await recordAudit(transaction, { ...by, action: 'account.stored_hours', subject: accountId, accountId, details })
  })
}
