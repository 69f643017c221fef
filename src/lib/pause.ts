/** Waiting between the rounds of a background worker, which its stop must be able to cut short. */

interface Pause {
  /** Resolves after `milliseconds`, or at once when `end` is or was called. */
  wait(milliseconds: number): Promise<void>
  /** Ends the running wait and every later one. */
  end(): void
}

/** Creates a pause. Leaves no timer behind. */
export function createPause(): Pause {
  const ended = Promise.withResolvers<void>()
  return {
    async wait(milliseconds) {
      const elapsed = Promise.withResolvers<void>()
      const timer = setTimeout(elapsed.resolve, milliseconds)
      await Promise.race([elapsed.promise, ended.promise])
      clearTimeout(timer)
    },
    end: () => ended.resolve(),
  }
}
