/** Collects times without allocating for each, and says how they are spread. */
import type { Percentiles } from './job'

interface Samples {
  add(milliseconds: number): void
  percentiles(): Percentiles
}

const FIRST_CAPACITY = 4096

/** Creates an empty collection. */
export function createSamples(): Samples {
  let values = new Float64Array(FIRST_CAPACITY)
  let count = 0
  return {
    add(milliseconds) {
      if (count === values.length) {
        const larger = new Float64Array(values.length * 2)
        larger.set(values)
        values = larger
      }
      values[count++] = milliseconds
    },
    percentiles: () => percentilesOf(values.subarray(0, count)),
  }
}

/** Percentiles of `values` by the nearest rank; zeros of none. */
export function percentilesOf(values: Float64Array): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), worst: at(1) }
}
