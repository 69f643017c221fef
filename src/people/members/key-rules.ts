/** The rules for all API keys of one member. */
import { mayDo } from '@/accounts/members/permissions'
import type { MemberPolicyChange } from '@/accounts/policies/key-policy'
import { boundOfAccount, readAllowedLists } from '@/people/keys/allowed-lists'
import { copyRules, type KeyRules } from '@/people/keys/fields'
import { type KeyDeps, showPolicy as showAccountPolicy } from '@/people/keys/keys'
import type { OperationCaller } from '@/people/operation'
import { expectVersion } from '@/people/version'
import { refused } from './refusals'

export type MemberPolicyDeps = KeyDeps & {
  /** Changes the given rules; they apply to the next request of each of the member's keys. */
  changeMemberKeyPolicy(change: MemberPolicyChange): Promise<'updated' | 'unknown_member'>
}

type OneMember = OperationCaller & { deps: MemberPolicyDeps; params: { userId: string } }

/** The rules of a member. Developers see only their own rules. */
export async function showPolicy({ deps, viewer, params: { userId } }: OneMember) {
  const { accountId, accountRole } = viewer
  const isSeen = userId === viewer.userId || mayDo(accountRole, 'usage.readAll')
  const policy = isSeen ? await deps.readMemberKeyPolicy({ accountId, userId }) : undefined
  if (!policy) throw refused({ kind: 'unknown_member' })
  return copyRules(policy)
}

/** Changes the given rules of a member, within those of the account. */
export async function choosePolicy(context: OneMember, asked: Partial<KeyRules>) {
  const { deps, viewer, by, params, request } = context
  const { accountId } = viewer
  const bound = boundOfAccount(await showAccountPolicy(context))
  const policy = readAllowedLists(asked, deps.catalog.current, await showPolicy(context), [bound])
  const check = (before: KeyRules) => expectVersion(request, before)
  await deps.changeMemberKeyPolicy({ accountId, userId: params.userId, policy, by, check })
  return await showPolicy(context)
}
