/** The routes of what holds for all keys of an account: models, providers, and the age at which a key ends. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import type { KeyPolicy } from '@/accounts/policies/effective-limits'
import { MAX_KEY_AGE_DAYS } from '@/accounts/policies/key-policy'
import type { Member } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'
import { ACCOUNT_PREFIX, guarded } from '@/console/http/guard'
import { MAX_KEY_BODY_BYTES } from '@/console/http/key-bodies'
import { exactly } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { bothLists } from '@/ledger/allowed'
import { orNull } from '@/lib/schemas'
import { ALLOWED_FIELDS, readAllowedLists, SHOWN_ALLOWED } from './allowed-lists'
import { type KeyRouteDeps, noSuchAccount } from './calls'

export type PolicyRouteDeps = KeyRouteDeps & {
  /** Changes what is named, for the next request of each of the account's keys. */
  changeKeyPolicy(accountId: string, policy: Partial<KeyPolicy>, by: ChangedBy): Promise<unknown>
}

const DAYS = orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_AGE_DAYS }), {
  description: 'A key ends so many days after it was made or last rotated; null = never',
})

const PolicyBody = titled('KeyPolicy', {
  ...SHOWN_ALLOWED,
  maxKeyAgeDays: DAYS,
})

const PolicyChanges = exactly({ ...ALLOWED_FIELDS, maxKeyAgeDays: Type.Optional(DAYS) }, { minProperties: 1 })

/** Mounts `/dashboard/api/a/:accountId/key-policy`. */
export function keyPolicyRoutes(deps: PolicyRouteDeps) {
  return guarded(deps, 'key-policy-routes', `${ACCOUNT_PREFIX}/key-policy`)
    .get('', ({ viewer }) => show(deps, viewer), {
      may: 'usage.read',
      response: PolicyBody,
      detail: {
        summary: 'What holds for all API keys',
        description:
          'A key may be narrower: it calls the models, and is answered by the providers, that are in both lists, and ends at the earlier moment.',
      },
    })
    .put('', (caller) => choose(deps, caller, caller.body), {
      may: { permission: 'limits.raise', maxBodyBytes: MAX_KEY_BODY_BYTES },
      body: PolicyChanges,
      response: PolicyBody,
      detail: {
        summary: 'Say what holds for all API keys',
        description:
          'What is left out stays. Holds for the next request of every key, on every gateway; the age not for the key of the playground, ' +
          'nor for the former text of a rotated key, which has an end of its own.',
      },
    })
}

async function show({ readKeyPolicy }: PolicyRouteDeps, { accountId }: Member) {
  const policy = await readKeyPolicy(accountId)
  if (!policy) throw noSuchAccount()
  return { ...bothLists(policy), maxKeyAgeDays: policy.maxKeyAgeDays }
}

async function choose(deps: PolicyRouteDeps, { viewer, by }: Caller, asked: typeof PolicyChanges.static) {
  const policy = readAllowedLists(asked, deps.catalog.current, await show(deps, viewer))
  await deps.changeKeyPolicy(viewer.accountId, policy, by)
  return await show(deps, viewer)
}
