/**
 * A rate for each subject, by the minute or another span, counted in this process only: for work that is too cheap to count
 * elsewhere.
 */
import { createBoundedMap } from '@/lib/bounded-map'

interface Allowance {
  /** Whether `subject` has used up what it may; counts nothing. Returns the milliseconds until one more is allowed, 0 for now. */
  waitMs(subject: string): number
  /** Counts `amount` (1) and returns the milliseconds that it came too early by, 0 where allowed. */
  take(subject: string, amount?: number): number
  /** Counts `amount` in any case: what was found out afterwards. */
  charge(subject: string, amount: number): void
}

/** Subjects beyond this many are forgotten, the one that was not counted for longest first. */
const MAX_SUBJECTS = 50_000

/** A span's worth at once, and from then on evenly. `perSpan` is asked anew each time; `now` gives milliseconds. */
export function createAllowance(perSpan: () => number, now: () => number, spanMs = 60_000): Allowance {
  /** When each will have been quiet for long enough to have everything again. */
  const fullAtMs = createBoundedMap<string, number>(MAX_SUBJECTS)
  const waitMs = (subject: string) => Math.max(0, (fullAtMs.get(subject) ?? 0) + spanMs / perSpan() - spanMs - now())
  const charge = (subject: string, amount: number) =>
    fullAtMs.set(subject, Math.max(now(), fullAtMs.get(subject) ?? 0) + (amount * spanMs) / perSpan())
  return {
    waitMs,
    charge,
    take(subject, amount = 1) {
      const early = waitMs(subject)
      if (early === 0) charge(subject, amount)
      return early
    },
  }
}
