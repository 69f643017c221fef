/** The effective limits of a key: the rules of its account, its member and its own, all together. */
import { memberships } from '@/db/auth-schema'
import { accounts } from '@/db/schema'
import { type Allowed, narrower } from '@/ledger/allowed'
import type { KeyLimits } from '@/ledger/outcomes'

/** What holds for all keys of an account; null = no bound. */
export type KeyPolicy = Allowed & { maxKeyAgeDays: number | null }

/** A key's age: when it was made, when its text was last rotated; keys of the service itself are not rotated. */
type Age = { createdAtMs: number; secretSinceMs: number | null; isBuiltIn: boolean }

const DAY_MS = 86_400_000

/** What holds for all keys, of the row of their account. */
export const POLICY_COLUMNS = {
  allowedModels: accounts.allowedModels,
  allowedProviders: accounts.allowedProviders,
  maxKeyAgeDays: accounts.maxKeyAgeDays,
}

/** What holds for all keys of a member, of the row of their membership. */
export const MEMBER_POLICY_COLUMNS = {
  allowedModels: memberships.allowedModels,
  allowedProviders: memberships.allowedProviders,
}

/** The limits as gateways obey them; `ofMember` is everything, or null, for a key that is no member's. */
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
