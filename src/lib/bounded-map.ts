export interface BoundedMap<K, V> {
  /** The value of `key`, which counts as a use. */
  get(key: K): V | undefined
  set(key: K, value: V): void
}

/** A map of at most `capacity` entries, which always keeps the most recently used half. Both operations take constant time. */
export function createBoundedMap<K, V>(capacity: number): BoundedMap<K, V> {
  // A Map iterates in the order of insertion, so its first key is the least recently used.
  const entries = new Map<K, V>()
  return {
    get(key) {
      const value = entries.get(key)
      // While the map is at most half full, no entry is dropped soon, so the order isn't updated.
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
