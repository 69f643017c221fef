/** Work that is done at first need and kept from then on, such as a library that is built or a secret that is read. */

/** Remembers what `make` gave, but not that it failed: then the next call tries again. Calls at the same time share one try. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
