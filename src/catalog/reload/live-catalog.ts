/** The catalogue that is in use. Each request reads it afresh; a reload replaces it as a whole. */
import type { Catalog, DefaultLimits } from '@/catalog/types'

/** Access to the current catalogue. `current` changes at a reload; a catalogue that was read does not change. */
export type CatalogSource = { readonly current: Catalog }

export interface LiveCatalog extends CatalogSource {
  replace(next: Catalog): void
  onReplaced(listener: (next: Catalog, before: Catalog) => void): void
}

/** Starts with the catalogue `first`. */
export function createLiveCatalog(first: Catalog): LiveCatalog {
  const listeners: ((next: Catalog, before: Catalog) => void)[] = []
  const live = {
    current: first,
    replace(next: Catalog) {
      const before = live.current
      live.current = next
      for (const listener of listeners) listener(next, before)
    },
    onReplaced: (listener: (next: Catalog, before: Catalog) => void) => void listeners.push(listener),
  }
  return live
}

/** The result of `make` for the current catalogue, computed once per catalogue. */
export function perCatalog<Made>(source: CatalogSource, make: (catalog: Catalog) => Made): () => Made {
  let made: { of: Catalog; what: Made } | undefined
  return () => {
    const { current } = source
    if (made?.of !== current) made = { of: current, what: make(current) }
    return made.what
  }
}

/** The current catalogue's default limits, as an object whose properties always read the current catalogue. */
export function liveLimits(source: CatalogSource): DefaultLimits {
  return {
    get requestsPerMinute() {
      return source.current.limits.requestsPerMinute
    },
    get tokensPerMinute() {
      return source.current.limits.tokensPerMinute
    },
    get concurrency() {
      return source.current.limits.concurrency
    },
  }
}
