/**
 * The permissions of keys that this process remembers, so that the first plan is usually right. Not binding: every reserve
 * compares them with the ledger, and a request with another permission is planned again.
 */
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import { createBoundedMap } from '@/lib/bounded-map'

export interface KeyPermissions {
  /** The last known permission of the key; {@link EVERYTHING} for an unknown key. */
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
