/** Counts outcomes of the last half minute in slices, so that old outcomes drop out, and outcomes aren't stored one by one. */

type Outcome = 'successes' | 'failures' | 'slow'
export type WindowTotals = Record<Outcome, number> & { all: number }

export interface SampleWindow {
  add(outcome: Outcome, nowMs: number): void
  totals(nowMs: number): WindowTotals
  clear(): void
}

export const WINDOW_MS = 30_000
const SLICES = 10
const SLICE_MS = WINDOW_MS / SLICES

type Slice = Record<Outcome, number> & { number: number }

/** Creates an empty window. Times are monotonic milliseconds. */
export function createSampleWindow(): SampleWindow {
  const slices: Slice[] = Array.from({ length: SLICES }, () => emptySlice(-1))
  return {
    add(outcome, nowMs) {
      const number = Math.floor(nowMs / SLICE_MS)
      const index = number % SLICES
      let slice = slices[index]
      if (slice?.number !== number) {
        slice = emptySlice(number)
        slices[index] = slice
      }
      slice[outcome]++
    },
    totals(nowMs) {
      const oldest = Math.floor(nowMs / SLICE_MS) - SLICES + 1
      const totals = { successes: 0, failures: 0, slow: 0, all: 0 }
      for (const slice of slices) {
        if (slice.number < oldest) continue
        totals.successes += slice.successes
        totals.failures += slice.failures
        totals.slow += slice.slow
      }
      totals.all = totals.successes + totals.failures + totals.slow
      return totals
    },
    clear() {
      for (const index of slices.keys()) slices[index] = emptySlice(-1)
    },
  }
}

function emptySlice(number: number): Slice {
  return { number, successes: 0, failures: 0, slow: 0 }
}
