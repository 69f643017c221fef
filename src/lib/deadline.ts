/** Waiting for something for so long and no longer, wherever a server that hangs must not make anybody else hang. */

/** What a {@link Deadline} answers instead of a value once its time is up. */
export const LATE: unique symbol = Symbol('late')

/** One span of time for several waits in a row. */
interface Deadline {
  /** Settles as `work` does, or resolves to {@link LATE} once the time is up. What fails after that fails unheard. */
  orLate<T>(work: PromiseLike<T>): Promise<T | typeof LATE>
  /** Frees the timer. To be called however the waiting ends. */
  clear(): void
}

/** Starts a deadline: its time runs from now. */
export function startDeadline(timeoutMs: number): Deadline {
  const late = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => late.resolve(LATE), timeoutMs)
  return {
    orLate: (work) => Promise.race([work, late.promise]),
    clear: () => clearTimeout(timer),
  }
}

/**
 * Settles as `work` does, or after `timeoutMs` as `onLate` does: what lateness means, a value or an error, is its caller's
 * to say. Work that loses runs on, and what becomes of it is nobody's concern: work that can be cancelled is better
 * cancelled by `onLate`. Leaves no timer behind.
 */
export async function withDeadline<T, L>(
  work: PromiseLike<T>,
  timeoutMs: number,
  onLate: () => L | PromiseLike<L>,
): Promise<T | L> {
  const deadline = startDeadline(timeoutMs)
  try {
    const outcome = await deadline.orLate(work)
    return outcome === LATE ? await onLate() : outcome
  } finally {
    deadline.clear()
  }
}
