/** What a key may do once what holds for all keys of its account is put together with what is its own: of both the narrower. */
import { accounts } from '@/db/schema'
import type { Allowed, AllowedIds } from '@/ledger/allowed'
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

/** The limits as gateways obey them. */
export function effectiveLimits<Limits extends Pick<KeyLimits, keyof Allowed | 'expiresAtMs'>>(
  limits: Limits,
  { allowedModels, allowedProviders, maxKeyAgeDays }: KeyPolicy,
  age: Age,
): Limits {
  return {
    ...limits,
    allowedModels: inBoth(allowedModels, limits.allowedModels),
    allowedProviders: inBoth(allowedProviders, limits.allowedProviders),
    expiresAtMs: earlier(limits.expiresAtMs, endByAge(maxKeyAgeDays, age)),
  }
}

function inBoth(ofAccount: AllowedIds, ofKey: AllowedIds): AllowedIds {
  if (ofAccount === null || ofKey === null) return ofAccount ?? ofKey
  return ofKey.filter((id) => ofAccount.includes(id))
}

function endByAge(days: number | null, { createdAtMs, secretSinceMs, isBuiltIn }: Age): number | null {
  return days === null || isBuiltIn ? null : (secretSinceMs ?? createdAtMs) + days * DAY_MS
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
