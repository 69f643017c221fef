/** Whether an account is one of the administrator's own: nobody moves money to where it is theirs to spend. */
import { roleIn } from '@/accounts/members/memberships'
import type { Administrator } from '@/console/administration/administrator'
import type { Transaction } from '@/db/client'

/** True where the administrator is a member of the account, in whatever role. */
export async function isTheirs(
  transaction: Transaction,
  accountId: string | null,
  { userId }: Administrator,
): Promise<boolean> {
  return accountId !== null && (await roleIn(transaction, accountId, userId)) !== undefined
}
