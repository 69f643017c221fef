/** What a member sees of their account's usage. */
import { mayDo } from '@/accounts/members/permissions'
import type { Member } from '@/console/auth/viewer'
import type { Sight } from '@/console/usage-views/usage-filter'

/** All of it, or what their own keys did. */
export function sightOf({ accountId, userId, accountRole }: Member): Sight {
  return { accountId, ...(!mayDo(accountRole, 'usage.readAll') && { madeBy: userId }) }
}
