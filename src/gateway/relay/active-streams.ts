/** The streams that are open right now, so that a shutdown can wait for them and, at its deadline, end them properly. */

export interface ActiveStreams {
  /**
   * Registers a stream; `interrupt` must end it with an in-format error and settle it, and may resolve when that is under way.
   * Returns the way to unregister.
   */
  add(interrupt: () => unknown): () => void
  count(): number
  /** Resolves once all have ended: before that their settlements are not there to be waited for. */
  interruptAll(): Promise<void>
}

/** Creates the register of one process. */
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
