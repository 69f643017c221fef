/** Time as a dependency, so that tests can control all waits and expiries; also days in UTC. */

/** A source of time. `now` is in milliseconds since 1970; `monotonic` is in milliseconds that never go back. */
export interface Clock {
  now(): number
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

export const MS_PER_HOUR = 3_600_000
export const MS_PER_DAY = 86_400_000

/** The UTC day of a time, as yyyy-mm-dd. */
export function utcDayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** The first millisecond of the UTC day. */
export function startOfUtcDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY
}
