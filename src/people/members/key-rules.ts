/** What holds for all API keys of one member: models, and providers that may answer. */
import type { ChangedBy } from '@/accounts/audit'
import { mayDo } from '@/accounts/members/permissions'
import { type Allowed, bothLists } from '@/ledger/allowed'
import { boundOfAccount, readAllowedLists } from '@/people/keys/allowed-lists'
import { type KeyDeps, showPolicy as showAccountPolicy } from '@/people/keys/keys'
import type { OperationCaller } from '@/people/operation'
import { refused } from './refusals'

export type MemberPolicyDeps = KeyDeps & {
  /** Changes what is named, for the next request of each of the member's keys. */
  changeMemberKeyPolicy(change: {
    accountId: string
    userId: string
    policy: Partial<Allowed>
    by: ChangedBy
  }): Promise<'updated' | 'unknown_member'>
}

type OneMember = OperationCaller & { deps: MemberPolicyDeps; params: { userId: string } }

/** The rules of a member: developers see their own. */
export async function showPolicy({ deps, viewer, params: { userId } }: OneMember) {
  const { accountId, accountRole } = viewer
  const isSeen = userId === viewer.userId || mayDo(accountRole, 'usage.readAll')
  const policy = isSeen ? await deps.readMemberKeyPolicy({ accountId, userId }) : undefined
  if (!policy) throw refused({ kind: 'unknown_member' })
  return bothLists(policy)
}

/** Changes what is named of them, within the rules of the account. */
export async function choosePolicy(context: OneMember, asked: Partial<Allowed>) {
  const { deps, viewer, by, params } = context
  const bound = boundOfAccount(await showAccountPolicy(context))
  const policy = readAllowedLists(asked, deps.catalog.current, await showPolicy(context), [bound])
  await deps.changeMemberKeyPolicy({ accountId: viewer.accountId, userId: params.userId, policy, by })
  return await showPolicy(context)
}
