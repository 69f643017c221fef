/** Rules for all members of an account, in addition to their roles. */
import { eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import type { Database } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'

/** `developersSeeAllUsage`: developers see usage and failed requests of all keys, instead of only their own. */
export type MemberPolicy = { developersSeeAllUsage: boolean }

type MemberPolicyChange = { accountId: string; policy: MemberPolicy; by: ChangedBy }

/** Undefined if there is no such account. */
export async function readMemberPolicy({ db }: Database, accountId: string): Promise<MemberPolicy | undefined> {
  const account = await findRow(db, accounts, eq(accounts.id, accountId))
  return account && { developersSeeAllUsage: account.developersSeeAllUsage }
}

/** Changes the policy, with an audit entry if it differs. Applies from each member's next request. */
export async function changeMemberPolicy(
  { db }: Database,
  { accountId, policy: { developersSeeAllUsage }, by }: MemberPolicyChange,
): Promise<'updated' | 'unknown_account'> {
  return await db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before) return 'unknown_account'
    if (before.developersSeeAllUsage === developersSeeAllUsage) return 'updated'
    await transaction.update(accounts).set({ developersSeeAllUsage }).where(eq(accounts.id, accountId))
    const details = { developersSeeAllUsage, 'before.developersSeeAllUsage': before.developersSeeAllUsage }
    await recordAudit(transaction, { ...by, action: 'account.member_policy', subject: accountId, accountId, details })
    return 'updated'
  })
}
