/** A map that forgets what was not used for longest once it is full. */

export interface BoundedMap<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

/** Holds at most `capacity` entries (a positive integer). Both operations cost the same at any size. */
export function createBoundedMap<T>(capacity: number): BoundedMap<T> {
  // A Map iterates in the order of insertion, so its first key is the one that was not used for longest.
  const entries = new Map<string, T>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
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
