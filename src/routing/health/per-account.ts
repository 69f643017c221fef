/** Faults that one account met at targets and keys. Bounded: the account whose last fault is oldest is forgotten first. */
import { createBoundedMap } from '@/lib/bounded-map'

export interface PerAccount<V> {
  /** What is known of the account, by the id of a key or target; undefined if nothing is. */
  find(accountId: string): Map<string, V> | undefined
  /** The same, to add to. */
  of(accountId: string): Map<string, V>
}

/** Accounts that are remembered at once in a process. */
const MAX_ACCOUNTS = 10_000

/** Creates an empty memory. */
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
