/**
 * What keys may call, as far as this process remembers, so that the first plan is right. Not binding: every
 * reserve compares it with what the ledger says of the key, and a request that was planned with another is planned again.
 */
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import { createBoundedMap } from '@/lib/bounded-map'

export interface KeyPermissions {
  /** What the key was last seen to be allowed; {@link EVERYTHING} for a key that is not known. */
  recall(keyId: string): Allowed
  note(keyId: string, allowed: Allowed): void
}

/** Keys that are remembered; of others the first request is planned twice. Keys that may call everything take no place. */
const CAPACITY = 20_000

/** Creates the memory of one process, empty. */
export function createKeyPermissions(): KeyPermissions {
  const known = createBoundedMap<string, Allowed>(CAPACITY)
  return {
    recall: (keyId) => known.get(keyId) ?? EVERYTHING,
    note: (keyId, allowed) => known.set(keyId, allowed),
  }
}
