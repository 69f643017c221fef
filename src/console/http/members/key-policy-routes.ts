/** Routes of the rules for all keys of one member: allowed models and providers. */
import type { ChangedBy } from '@/accounts/audit'
import { mayDo } from '@/accounts/members/permissions'
import type { Member } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, guarded } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { type Allowed, bothLists } from '@/ledger/allowed'
import { ALLOWED_FIELDS, boundOfAccount, readAllowedLists, SHOWN_ALLOWED } from '@/people/keys/allowed-lists'
import { MAX_KEY_BODY_BYTES } from '@/people/keys/bodies'
import type { KeyDeps } from '@/people/keys/keys'
import { refused } from '@/people/keys/refusals'
import { MemberParams } from './member-routes'
import { refusalOf } from './member-words'

export type MemberKeyPolicyDeps = KeyDeps & {
  /** Changes the given rules, from the next request of each of the member's keys on. */
  changeMemberKeyPolicy(change: {
    accountId: string
    userId: string
    policy: Partial<Allowed>
    by: ChangedBy
  }): Promise<'updated' | 'unknown_member'>
}

const PolicyBody = titled('MemberKeyPolicy', SHOWN_ALLOWED)
const PolicyChanges = exactly(ALLOWED_FIELDS, { minProperties: 1 })

export function memberKeyPolicyRoutes(deps: MemberKeyPolicyDeps) {
  return guarded(deps, 'member-key-policy-routes', `${ACCOUNT_PREFIX}/members/:userId/key-policy`)
    .get('', ({ viewer, params }) => show(deps, viewer, params.userId), {
      may: 'usage.read',
      params: MemberParams,
      response: PolicyBody,
      detail: {
        summary: 'Get the rules for all API keys of a member',
        description:
          'A request needs the permission of these rules and of the account’s rules. Developers see their own.',
      },
    })
    .put('', (caller) => choose(deps, caller, caller.params.userId, caller.body), {
      may: { permission: 'limits.raise', maxBodyBytes: MAX_KEY_BODY_BYTES },
      params: MemberParams,
      body: PolicyChanges,
      response: PolicyBody,
      detail: {
        summary: 'Set the rules for all API keys of a member',
        description:
          'What is left out stays. Holds for their next request, on every gateway, in the playground too, and for keys that they are given ' +
          'later; until they are no member any more.',
      },
    })
}

async function show({ readMemberKeyPolicy }: MemberKeyPolicyDeps, viewer: Member, userId: string) {
  const { accountId, accountRole } = viewer
  const isSeen = userId === viewer.userId || mayDo(accountRole, 'usage.readAll')
  const policy = isSeen ? await readMemberKeyPolicy({ accountId, userId }) : undefined
  if (!policy) throw refusalOf({ kind: 'unknown_member' })
  return bothLists(policy)
}

async function choose(
  deps: MemberKeyPolicyDeps,
  { viewer, by }: Caller,
  userId: string,
  asked: typeof PolicyChanges.static,
) {
  const { accountId } = viewer
  const ofAccount = await deps.readKeyPolicy(accountId)
  if (!ofAccount) throw refused('unknown_account')
  const present = await show(deps, viewer, userId)
  const policy = readAllowedLists(asked, deps.catalog.current, present, [boundOfAccount(ofAccount)])
  await deps.changeMemberKeyPolicy({ accountId, userId, policy, by })
  return await show(deps, viewer, userId)
}
