/** A key's effective limits: the combined rules of its account, its member and the key itself. */
import { memberships } from '@/db/auth-schema'
import { accounts } from '@/db/schema'
import { type Allowed, narrower } from '@/ledger/allowed'
import type { KeyLimits } from '@/ledger/outcomes'

export type KeyPolicy = Allowed & { maxKeyAgeDays: number | null }

/** When a key was made and when its secret was last rotated. The service's own keys are not rotated. */
type Age = { createdAtMs: number; secretSinceMs: number | null; isBuiltIn: boolean }

const DAY_MS = 86_400_000

export const POLICY_COLUMNS = {
  allowedModels: accounts.allowedModels,
  allowedProviders: accounts.allowedProviders,
  maxKeyAgeDays: accounts.maxKeyAgeDays,
}

export const MEMBER_POLICY_COLUMNS = {
  allowedModels: memberships.allowedModels,
  allowedProviders: memberships.allowedProviders,
}

/** The limits that gateways enforce. For a key without a member, `ofMember` is null or allows all. */
export function effectiveLimits<Limits extends Pick<KeyLimits, keyof Allowed | 'expiresAtMs'>>(
  limits: Limits,
  policy: KeyPolicy,
  ofMember: Allowed | null,
  age: Age,
): Limits {
  return {
    ...limits,
    ...narrower(ofMember ? narrower(policy, ofMember) : policy, limits),
    expiresAtMs: earlier(limits.expiresAtMs, endByAge(policy.maxKeyAgeDays, age)),
  }
}

function endByAge(days: number | null, { createdAtMs, secretSinceMs, isBuiltIn }: Age): number | null {
  return days === null || isBuiltIn ? null : (secretSinceMs ?? createdAtMs) + days * DAY_MS
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
