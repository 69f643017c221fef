/** Runs work at its first use and keeps the result, such as a loaded library or a secret. */

/** Caches the result of `make`, but not a failure: the next call retries. Concurrent calls share one run. */
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
