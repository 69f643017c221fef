/** Counters, gauges and histograms as plain numbers; the library's own look labels up at every call. */
import type { Metric, Registry } from 'prom-client'

type Labels = Record<string, string | number>
export type Sample = [labels: Labels, value: number]

type Family = { name: string; help: string }
type LibraryValue = { labels: Labels; value: number; metricName?: string }

/** A metric whose series are read at each scrape. Each series may occur only once. */
type ReadFamily = Family & { samples(): Iterable<Sample> }

/** Adds metrics. If its name ends in `_total`, a metric is a counter, which must only increase; otherwise a gauge. */
export function expose(registry: Registry, ...families: ReadFamily[]): void {
  for (const { name, help, samples } of families) {
    const type = name.endsWith('_total') ? 'counter' : 'gauge'
    register(registry, type, { name, help }, () => Array.from(samples(), ([labels, value]) => ({ labels, value })))
  }
}

/** A metric with one series, which has no labels. */
export function reading(name: string, help: string, read: () => number): ReadFamily {
  return { name, help, samples: () => [[{}, read()]] }
}

/** A metric whose series have one label. */
export function labelled(
  name: string,
  help: string,
  label: string,
  read: () => Iterable<readonly [value: string, number: number]>,
): ReadFamily {
  return { name, help, samples: () => Array.from(read(), ([value, number]): Sample => [{ [label]: value }, number]) }
}

export type Distribution = { readonly counts: Float64Array; sum: number }

/** A histogram: `bounds` are the upper bounds of its buckets in seconds, ascending. */
interface HistogramSeries {
  /** The series with these labels, created if missing. Keep the result for frequent use. */
  series(labels: Labels): Distribution
  observe(series: Distribution, seconds: number): void
}

/** Adds a histogram. A series is shown after `series` was first called for it. */
export function exposeHistogram(
  registry: Registry,
  { name, help, bounds }: Family & { bounds: readonly number[] },
): HistogramSeries {
  const all = new Map<string, { labels: Labels; distribution: Distribution }>()

  function values(): LibraryValue[] {
    return [...all.values()].flatMap(({ labels, distribution }) => valuesOf(name, bounds, labels, distribution))
  }

  register(registry, 'histogram', { name, help }, values)
  return {
    series(labels) {
      const key = JSON.stringify(labels)
      const known = all.get(key)
      if (known) return known.distribution
      const distribution = { counts: new Float64Array(bounds.length + 1), sum: 0 }
      all.set(key, { labels, distribution })
      return distribution
    },
    observe(distribution, seconds) {
      let index = 0
      while (index < bounds.length && seconds > (bounds[index] ?? 0)) index++
      distribution.counts[index] = (distribution.counts[index] ?? 0) + 1
      distribution.sum += seconds
    },
  }
}

function valuesOf(name: string, bounds: readonly number[], labels: Labels, { counts, sum }: Distribution) {
  let below = 0
  const values: LibraryValue[] = Array.from(counts, (count, index) => {
    below += count
    return { labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: below, metricName: `${name}_bucket` }
  })
  values.push({ labels, value: sum, metricName: `${name}_sum` }, { labels, value: below, metricName: `${name}_count` })
  return values
}

/** Adds the fields that the library requires of a metric. */
function register(registry: Registry, type: string, family: Family, values: () => LibraryValue[]): void {
  const get = async () => ({ ...family, type, values: values(), aggregator: 'sum' })
  registry.registerMetric({ ...family, type, get, reset: () => undefined } as unknown as Metric)
}
