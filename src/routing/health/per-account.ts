/** Faults that single accounts had with targets and keys. Bounded: the account whose last fault is the oldest is forgotten first. */
import { createBoundedMap } from '@/lib/bounded-map'

export interface PerAccount<V> {
  /** The account's entries by the id of a key or target; undefined if there are none. */
  find(accountId: string): Map<string, V> | undefined
  /** Like {@link find}, but creates the map. */
  of(accountId: string): Map<string, V>
}

const MAX_ACCOUNTS = 10_000

export function createPerAccount<V>(): PerAccount<V> {
  const accounts = createBoundedMap<string, Map<string, V>>(MAX_ACCOUNTS)
  return {
    find: (accountId) => accounts.get(accountId),
    of(accountId) {
      const known = accounts.get(accountId) ?? new Map<string, V>()
      accounts.set(accountId, known)
      return known
    },
  }
}
