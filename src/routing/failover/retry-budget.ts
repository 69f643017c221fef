/** Limits retries per minute to a tenth of the requests. A few are always allowed. */
import type { Clock } from '@/lib/clock'

export interface RetryBudget {
  noteRequest(): void
  /** Takes one retry, or returns false if the minute's share is used up. */
  takeRetry(): boolean
}

export const RETRY_SHARE = 0.1
/** The minimum limit of retries per minute, even with little traffic. */
export const MIN_RETRIES_PER_MINUTE = 10
const SLICE_MS = 5_000
const SLICES = 12

type Slice = { number: number; requests: number; retries: number }

/** Creates the budget of one process. */
export function createRetryBudget(clock: Clock): RetryBudget {
  const slices: Slice[] = Array.from({ length: SLICES }, () => ({ number: -1, requests: 0, retries: 0 }))

  function current(): Slice {
    const number = Math.floor(clock.monotonic() / SLICE_MS)
    const slice = slices[number % SLICES] as Slice
    if (slice.number !== number) Object.assign(slice, { number, requests: 0, retries: 0 })
    return slice
  }

  return {
    noteRequest() {
      current().requests++
    },
    takeRetry() {
      const now = current()
      const recent = slices.filter((slice) => slice.number > now.number - SLICES)
      const requests = recent.reduce((sum, slice) => sum + slice.requests, 0)
      const retries = recent.reduce((sum, slice) => sum + slice.retries, 0)
      if (retries + 1 > Math.max(MIN_RETRIES_PER_MINUTE, requests * RETRY_SHARE)) return false
      now.retries++
      return true
    },
  }
}
