/** The currently open streams, so that a shutdown can wait for them and properly end the rest at its deadline. */

export interface ActiveStreams {
  /** Registers a stream; `interrupt` must end it with an error in its format and settle it. Returns a function to unregister. */
  add(interrupt: () => unknown): () => void
  count(): number
  /** Resolves once all have ended, so that their settlements can then be waited for. */
  interruptAll(): Promise<void>
}

export function createActiveStreams(): ActiveStreams {
  const open = new Set<() => unknown>()
  return {
    add(interrupt) {
      open.add(interrupt)
      return () => open.delete(interrupt)
    },
    count: () => open.size,
    async interruptAll() {
      await Promise.allSettled([...open].map((interrupt) => interrupt()))
    },
  }
}
