/** A map that forgets what was not used for longest once it is full: a memory that no stranger can fill without end. */

export interface BoundedMap<K, V> {
  /** The value of `key`, which counts as a use. */
  get(key: K): V | undefined
  set(key: K, value: V): void
}

/**
 * Holds at most `capacity` entries (a positive integer), among them the half of so many that were used last. Both operations cost the
 * same at any size.
 */
export function createBoundedMap<K, V>(capacity: number): BoundedMap<K, V> {
  // A Map iterates in the order of insertion, so its first key is the one that was not used for longest.
  const entries = new Map<K, V>()
  return {
    get(key) {
      const value = entries.get(key)
      // With much room left no entry is dropped soon, so the order is not updated.
      if (value === undefined || entries.size * 2 <= capacity) return value
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= capacity) return
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        return
      }
    },
  }
}
