/**
 * Waits with a time limit, so that a hanging server cannot make its callers hang. Time in which this process stood still does
 * not count: the reply may be unread in a socket, or the request unsent.
 */

/** What a {@link Watch} answers instead of a value once its signal has fired. */
export const UNWANTED: unique symbol = Symbol('unwanted')

/** Several waits in a row, for as long as their result is wanted. */
interface Watch {
  /** Settles as `work` does, or resolves to {@link UNWANTED} once the signal has fired. What fails after that fails unheard. */
  orUnwanted<T>(work: PromiseLike<T>): Promise<T | typeof UNWANTED>
  /** To be called however the waiting ends. */
  clear(): void
}

/** Watches `signal` from now on. */
export function watchFor(signal: AbortSignal): Watch {
  const fired = Promise.withResolvers<typeof UNWANTED>()
  const end = () => fired.resolve(UNWANTED)
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  return {
    orUnwanted: (work) => Promise.race([work, fired.promise]),
    clear: () => signal.removeEventListener('abort', end),
  }
}

/** A span is counted in this many slices: however long the event loop stands still, it costs one of them. */
const SLICES = 5
/** A timer that is later than this tells that the loop stood still. */
const STALL_MS = 20

/**
 * Calls `ring` after `timeoutMs` of a turning event loop; time in which it stood still just before counts little. `onTimer` is told each timer
 * that it waits by.
 */
export function startAlarm(timeoutMs: number, ring: () => void, onTimer?: (timer: Timer) => void): () => void {
  const sliceMs = Math.ceil(timeoutMs / SLICES)
  let leftMs = timeoutMs
  let extensions = SLICES
  let timer: Timer

  function wait(spanMs: number): void {
    const endsAtMs = performance.now() + spanMs
    timer = setTimeout(() => {
      const lagMs = performance.now() - endsAtMs
      leftMs -= spanMs
      if (leftMs > 0) wait(Math.min(leftMs, sliceMs))
      else if (lagMs > STALL_MS && extensions-- > 0) wait(Math.min(lagMs, sliceMs))
      else ring()
    }, spanMs)
    onTimer?.(timer)
  }

  wait(Math.min(leftMs, sliceMs))
  return () => clearTimeout(timer)
}

/**
 * Settles as `work` does, or after `timeoutMs` as `onLate` does: what lateness means, a value or an error, is its caller's
 * to say. Work that loses runs on, and the outcome of it is not looked at: work that can be cancelled is better
 * cancelled by `onLate`. Leaves no timer behind.
 */
export function withDeadline<T, L>(
  work: PromiseLike<T>,
  timeoutMs: number,
  onLate: () => L | PromiseLike<L>,
): Promise<T | L> {
  // Written out instead of a race of promises: paid requests wait like this several times each.
  return new Promise<T | L>((resolve, reject) => {
    const clear = startAlarm(timeoutMs, () => {
      try {
        resolve(onLate())
      } catch (error) {
        reject(error)
      }
    })
    Promise.resolve(work).then(
      (value) => {
        clear()
        resolve(value)
      },
      (error: unknown) => {
        clear()
        reject(error)
      },
    )
  })
}
