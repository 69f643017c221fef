/** Runs `make` at its first use and keeps the result. After a failure, the next call runs `make` again. Concurrent calls share one run. */
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
