/** The catalogue in use, read anew for each request and replaced as a whole by a reload. */
import type { Catalog, DefaultLimits } from '@/catalog/types'

/** Access to the present catalogue. Reading it is one property access; a kept value is a snapshot. */
export type CatalogSource = { readonly current: Catalog }

export interface LiveCatalog extends CatalogSource {
  /** Puts `next` in the place of the present one at once, and then tells the listeners, in the order in which they came. */
  replace(next: Catalog): void
  /** Calls `listener` after each replacement. It must not throw. */
  onReplaced(listener: (next: Catalog, before: Catalog) => void): void
}

/** Begins with `first`. */
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

/** What `make` makes of the present catalogue, made once for each. */
export function perCatalog<Made>(source: CatalogSource, make: (catalog: Catalog) => Made): () => Made {
  let made: { of: Catalog; what: Made } | undefined
  return () => {
    const { current } = source
    if (made?.of !== current) made = { of: current, what: make(current) }
    return made.what
  }
}

/** The present catalogue's limits, for those who keep them: each look at one is a look at the catalogue. */
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
