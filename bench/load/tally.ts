/** What a job counts while it runs, and the result that comes of it. */
import type { JobResult } from './job'
import { createSamples } from './samples'

export interface Tally {
  /** `missing` is how many pieces of a stream did not come. */
  answered(status: number, latencyMs: number, missing: number): void
  failed(reason: string): void
  firstToken(milliseconds: number): void
  chunk(delayMs: number): void
  /** Forgets the delays so far: what follows is the time that counts. */
  restartDelays(): void
  result(): JobResult
}

const OK = 200

/** Starts counting now. */
export function createTally(): Tally {
  const startedMs = performance.now()
  const [latency, firstToken] = [createSamples(), createSamples()]
  let delays = createSamples()
  const failures: Record<string, number> = {}
  let answered = 0
  let chunks = 0

  function failed(reason: string): void {
    failures[reason] = (failures[reason] ?? 0) + 1
  }

  return {
    answered(status, latencyMs, missing) {
      if (status !== OK) return failed(String(status))
      if (missing > 0) return failed('cut short')
      answered += 1
      latency.add(latencyMs)
    },
    failed,
    firstToken: firstToken.add,
    chunk(delayMs) {
      chunks += 1
      if (!Number.isNaN(delayMs)) delays.add(delayMs)
    },
    restartDelays() {
      delays = createSamples()
    },
    result: () => ({
      seconds: (performance.now() - startedMs) / 1000,
      ...{ answered, failures, chunks },
      latency: latency.percentiles(),
      firstToken: firstToken.percentiles(),
      chunkDelay: delays.percentiles(),
    }),
  }
}
