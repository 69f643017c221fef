/**
 * The models that keys may call, as far as this process remembers, so that the first plan is right. Not binding: every
 * reserve compares it with what the ledger says of the key, and a request that was planned with another is planned again.
 */
import type { AllowedModels } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'

export interface KeyPermissions {
  /** The models that the key was last seen to be allowed; null (every model) for a key that is not known. */
  recall(keyId: string): AllowedModels
  note(keyId: string, models: AllowedModels): void
}

/** Keys that are remembered; of others the first request is planned twice. Keys that may call everything take no place. */
const CAPACITY = 20_000

/** Creates the memory of one process, empty. */
export function createKeyPermissions(): KeyPermissions {
  const known = createBoundedMap<string, { models: AllowedModels }>(CAPACITY)
  return {
    recall: (keyId) => known.get(keyId)?.models ?? null,
    note: (keyId, models) => known.set(keyId, { models }),
  }
}
