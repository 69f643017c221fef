import { createBoundedMap } from '@/lib/bounded-map'

interface Allowance {
  /** Milliseconds until `subject` may take one more; 0: at once. Does not count an attempt. */
  waitMs(subject: string): number
  /** Counts `amount` (default 1) if allowed, and returns 0; otherwise the milliseconds to wait. */
  take(subject: string, amount?: number): number
  /** Always counts `amount`, for costs known only afterwards. */
  charge(subject: string, amount: number): void
}

/** Beyond this many subjects, the least recently counted are forgotten. */
const MAX_SUBJECTS = 50_000

/** A rate limit per subject in this process: `perSpan()` at once, then evenly as many in each `spanMs`. `now` returns milliseconds. */
export function createAllowance(perSpan: () => number, now: () => number, spanMs = 60_000): Allowance {
  /** When each subject will have its full allowance again. */
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
