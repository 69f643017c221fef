/**
 * Waits with a time limit, so that a hanging server cannot block its callers. Time in which this process was blocked doesn't count: the
 * reply may be unread in a socket, or the request unsent.
 */

/** The result of a {@link Watch} after its signal has fired. */
export const UNWANTED: unique symbol = Symbol('unwanted')

interface Watch {
  /** Settles like `work`, or resolves to {@link UNWANTED} once the signal has fired. Later failures are ignored. */
  orUnwanted<T>(work: PromiseLike<T>): Promise<T | typeof UNWANTED>
  /** Ends the watch. Must always be called at the end. */
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

/** The time is divided into this many slices. A block of the event loop counts as one slice at most. */
const SLICES = 5
/** A timer later than this means that the event loop was blocked. */
const STALL_MS = 20

/** Calls `ring` after `timeoutMs`; time in which the event loop was blocked counts only in part. `onTimer` gets each timer used. */
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

/** Settles like `work`, or after `timeoutMs` like `onLate`, which should cancel `work`: its late result is ignored. Leaves no timer. */
export function withDeadline<T, L>(
  work: PromiseLike<T>,
  timeoutMs: number,
  onLate: () => L | PromiseLike<L>,
): Promise<T | L> {
  // Faster than a race of promises, since each paid request waits several times.
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
