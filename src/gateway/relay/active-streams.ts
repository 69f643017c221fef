/** The streams that are open right now, so that a shutdown can wait for them and, at its deadline, end them properly. */

export interface ActiveStreams {
  /** Registers a stream; `interrupt` must end it with an in-format error and settle it. Returns the way to unregister. */
  add(interrupt: () => void): () => void
  count(): number
  interruptAll(): void
}

/** Creates the register of one process. */
export function createActiveStreams(): ActiveStreams {
  const open = new Set<() => void>()
  return {
    add(interrupt) {
      open.add(interrupt)
      return () => open.delete(interrupt)
    },
    count: () => open.size,
    interruptAll() {
      for (const interrupt of [...open]) interrupt()
    },
  }
}
