/** Suspends and activates accounts in an administrator's name, with the reason in the audit log. */
import { eq } from 'drizzle-orm'
import type { Accounts } from '@/accounts/accounts'
import { recordAudit } from '@/accounts/audit'
import type { Database } from '@/db/client'
import { accounts as accountsTable } from '@/db/schema'
import type { AccountStatus } from '@/ledger/outcomes'
import { type Administrator, auditOrigin } from './administrator'

export type StatusChange = {
  accountId: string
  status: AccountStatus
  /** 1 to 500 characters. */
  reason: string
}

/**
 * Changes an account's status in the history together with its audit entry, then on every gateway. Throws where the ledger
 * can't be told: the history then has the new status, and the same call again mends the rest.
 */
export async function changeAccountStatus(
  { database, accounts }: { database: Database; accounts: Accounts },
  administrator: Administrator,
  { accountId, status, reason }: StatusChange,
): Promise<'updated' | 'unknown_account'> {
  await database.db.transaction(async (transaction) => {
    const [account] = await transaction
      .select({ status: accountsTable.status })
      .from(accountsTable)
      .where(eq(accountsTable.id, accountId))
      .for('no key update')
    if (!account || account.status === status) return
    await transaction.update(accountsTable).set({ status }).where(eq(accountsTable.id, accountId))
    await recordAudit(transaction, {
      ...auditOrigin(administrator),
      action: status === 'suspended' ? 'account.suspend' : 'account.activate',
      subject: accountId,
      accountId,
      details: { before: account.status, after: status, reason },
    })
  })
  return await accounts.setStatus(accountId, status)
}
