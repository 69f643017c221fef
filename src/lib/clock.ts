/** Time as a dependency, so that everything that waits or expires can be driven by a test, and days in UTC. */

/** A source of time. `now` is wall-clock milliseconds since 1970; `monotonic` is milliseconds that never run backwards. */
export interface Clock {
  now(): number
  monotonic(): number
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

export const MS_PER_HOUR = 3_600_000
export const MS_PER_DAY = 86_400_000

/** The day of a moment in UTC, as yyyy-mm-dd. */
export function utcDayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** The first millisecond of the moment's day in UTC. */
export function startOfUtcDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY
}
