/** Time as a dependency, so that everything that waits or expires can be driven by a test. */

/** A source of time. `now` is wall-clock milliseconds since 1970; `monotonic` is milliseconds that never run backwards. */
export interface Clock {
  now(): number
  monotonic(): number
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }
