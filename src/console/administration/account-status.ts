/** Suspends and activates accounts in an administrator's name, with the reason in the audit log. */
import type { Accounts } from '@/accounts/accounts'
import type { AccountStatus } from '@/ledger/outcomes'
import { type Administrator, auditOrigin } from './administrator'

export type StatusChange = {
  accountId: string
  status: AccountStatus
  /** 1 to 500 characters. */
  reason: string
}

/** Changes an account's status in the history together with its audit entry, then on every gateway. Throws as `setStatus` does. */
export async function changeAccountStatus(
  accounts: Pick<Accounts, 'setStatus'>,
  administrator: Administrator,
  { accountId, status, reason }: StatusChange,
): Promise<'updated' | 'unknown_account'> {
  return await accounts.setStatus(accountId, status, { by: auditOrigin(administrator), reason })
}
