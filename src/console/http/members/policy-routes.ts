/** Routes of the rules for all members of an account: whether developers see all usage. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import type { MemberPolicy } from '@/accounts/policies/member-policy'
import { ACCOUNT_PREFIX, type GuardDeps, guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { refused } from '@/people/keys/refusals'

export type MemberPolicyDeps = GuardDeps & {
  readMemberPolicy(accountId: string): Promise<MemberPolicy | undefined>
  changeMemberPolicy(accountId: string, policy: MemberPolicy, by: ChangedBy): Promise<unknown>
}

const PolicyBody = exactly({
  developersSeeAllUsage: Type.Boolean({
    description: 'Whether developers see usage and failed requests of all keys, and not of their own alone',
  }),
})

export function memberPolicyRoutes(deps: MemberPolicyDeps) {
  return guarded(deps, 'member-policy-routes', `${ACCOUNT_PREFIX}/member-policy`)
    .get('', ({ viewer }) => show(deps, viewer.accountId), {
      may: 'members.read',
      response: PolicyBody,
      detail: { summary: 'What holds for members', description: 'Beyond what their roles allow.' },
    })
    .put(
      '',
      async ({ viewer, by, body }) => {
        await deps.changeMemberPolicy(viewer.accountId, body, by)
        return await show(deps, viewer.accountId)
      },
      {
        may: 'members.change',
        body: PolicyBody,
        response: PolicyBody,
        detail: {
          summary: 'Say what holds for members',
          description: 'From the next request of each on, and for reports by keys of theirs.',
        },
      },
    )
}

async function show({ readMemberPolicy }: MemberPolicyDeps, accountId: string): Promise<MemberPolicy> {
  const policy = await readMemberPolicy(accountId)
  if (!policy) throw refused('unknown_account')
  return policy
}
