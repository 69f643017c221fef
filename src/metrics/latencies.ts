/** How long answers take in total and up to the first content, and how much of that the gateway causes. */
import type { Registry } from 'prom-client'
import type { LaneNames } from './born-series'
import type { EndedAnswer } from './ended-answer'
import { type Distribution, exposeHistogram } from './series'
import { entryOf } from './traffic-totals'

type Latencies = {
  /** Creates these targets' series before their first observation. */
  open(targets: readonly Omit<LaneNames, 'format'>[]): void
  answered(request: Pick<EndedAnswer, 'model' | 'provider' | 'durationMs' | 'firstTokenMs'>): void
  overhead(milliseconds: number): void
}

type TargetSeries = { firstToken: Distribution; duration: Distribution }

/** In seconds. An idle gateway adds less than one millisecond, an overloaded one up to a second. */
const OVERHEAD_BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1,
]
const LATENCY_BOUNDS = [0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600]

export function createLatencies(registry: Registry): Latencies {
  const overhead = exposeHistogram(registry, {
    name: 'svc_overhead_seconds',
    help: 'Time of an answer up to its headers that was not spent waiting for the upstream.',
    bounds: OVERHEAD_BOUNDS,
  })
  const firstToken = exposeHistogram(registry, {
    name: 'svc_time_to_first_token_seconds',
    help: 'Time from the arrival of a streaming request to its first content.',
    bounds: LATENCY_BOUNDS,
  })
  const duration = exposeHistogram(registry, {
    name: 'svc_request_duration_seconds',
    help: 'Time from the arrival of an answered request to the end of its answer.',
    bounds: LATENCY_BOUNDS,
  })
  const ours = overhead.series({})
  const targets = new Map<string, Map<string, TargetSeries>>()

  function seriesOf(model: string, provider: string) {
    const byProvider = entryOf(targets, model, () => new Map<string, TargetSeries>())
    return entryOf(byProvider, provider, () => {
      const names = { model, provider }
      return { firstToken: firstToken.series(names), duration: duration.series(names) }
    })
  }

  return {
    open(all) {
      for (const { model, provider } of all) seriesOf(model, provider)
    },
    answered({ model, provider, durationMs, firstTokenMs }) {
      const series = seriesOf(model, provider)
      duration.observe(series.duration, durationMs / 1000)
      if (firstTokenMs !== null) firstToken.observe(series.firstToken, firstTokenMs / 1000)
    },
    overhead: (milliseconds) => overhead.observe(ours, milliseconds / 1000),
  }
}
