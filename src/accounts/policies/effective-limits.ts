/** A key's effective limits: the combined rules of its account, its member and the key itself. */

import type { DataRule, RuleOwner } from '@/chat/preferences'
import { memberships } from '@/db/auth-schema'
import { accounts } from '@/db/schema'
import { type Allowed, narrower } from '@/ledger/allowed'
import type { KeyLimits } from '@/ledger/outcomes'
import { type KeyRules, rulesOf } from '@/people/keys/fields'

export type KeyPolicy = KeyRules & { maxKeyAgeDays: number | null }

type Expiry = Pick<KeyLimits, 'expiresAtMs'>

/** When a key was made and when its secret was last rotated. The service's own keys are not rotated. */
type Age = { createdAtMs: number; secretSinceMs: number | null; isBuiltIn: boolean }

const DAY_MS = 86_400_000

export const POLICY_COLUMNS = { ...rulesOf(accounts), maxKeyAgeDays: accounts.maxKeyAgeDays }

export const MEMBER_POLICY_COLUMNS = rulesOf(memberships)

/** The limits that gateways enforce. For a key without a member, `ofMember` is null or allows all. */
export function effectiveLimits(
  limits: KeyRules & Expiry,
  policy: KeyPolicy,
  ofMember: KeyRules | null,
  age: Age,
): Allowed & Expiry {
  const ofAccount = allowedBy(policy, 'account')
  const bounds = ofMember ? narrower(ofAccount, allowedBy(ofMember, 'member')) : ofAccount
  return {
    ...narrower(bounds, allowedBy(limits, 'key')),
    expiresAtMs: earlier(limits.expiresAtMs, endByAge(policy.maxKeyAgeDays, age)),
  }
}

/** The permission that one owner's rules give. The owner is the account, the member or the key. */
export function allowedBy(
  { allowedModels, allowedProviders, zeroRetention, noTraining, regions }: KeyRules,
  from: RuleOwner,
): Allowed {
  const dataRules: DataRule[] = []
  if (zeroRetention) dataRules.push({ kind: 'zero-retention', from })
  if (noTraining) dataRules.push({ kind: 'no-training', from })
  if (regions) dataRules.push({ kind: 'regions', regions, from })
  return { allowedModels, allowedProviders, ...(dataRules.length > 0 && { dataRules }) }
}

function endByAge(days: number | null, { createdAtMs, secretSinceMs, isBuiltIn }: Age): number | null {
  return days === null || isBuiltIn ? null : (secretSinceMs ?? createdAtMs) + days * DAY_MS
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
