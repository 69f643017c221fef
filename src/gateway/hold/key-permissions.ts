/** Remembers keys' permissions, so that the first plan is usually right. Each reserve compares them with the ledger's. */
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import { createBoundedMap } from '@/lib/bounded-map'

export interface KeyPermissions {
  /** The last known permission of the key; {@link EVERYTHING} for an unknown key. */
  recall(keyId: string): Allowed
  note(keyId: string, allowed: Allowed): void
}

/** Maximum remembered keys. If a key is not remembered and has restrictions, its first request is planned twice. */
const CAPACITY = 20_000

export function createKeyPermissions(): KeyPermissions {
  const known = createBoundedMap<string, Allowed>(CAPACITY)
  return {
    recall: (keyId) => known.get(keyId) ?? EVERYTHING,
    note: (keyId, allowed) => known.set(keyId, allowed),
  }
}
