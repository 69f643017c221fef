/** Runs `make` at its first use and keeps the result. A failure is not kept: the next call retries. Concurrent calls share one run. */
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
