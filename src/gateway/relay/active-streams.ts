/** The currently open streams of one process. A shutdown waits for them, and interrupts those that are still open at its deadline. */

export interface ActiveStreams {
  /** Registers a stream; `interrupt` must end it with an error in its format and settle it. Returns a function to unregister. */
  add(interrupt: () => unknown): () => void
  count(): number
  /** Interrupts all streams. Resolves once they have ended; the caller can then wait for their settlements. */
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
