import { type HrTime, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import { entryOf } from '@/metrics/traffic-totals'

/** One metric with all its values; for a histogram each bucket, its sum and its count, by `metricName`. */
export type Series = {
  name: string
  help: string
  /** Compared with the type names of prom-client, which the compiler sees as numbers. */
  type: unknown
  values: readonly { value: number; labels: Readonly<Partial<Record<string, string | number>>>; metricName?: string }[]
}

type Scope = { name: string; version: string }

/** Exports the Prometheus `series` by OpenTelemetry under the same names: one count serves both. Sums start at the time of this call. */
export function createRegistryProducer(
  resource: Resource,
  scope: Scope,
  series: () => Promise<readonly Series[]>,
): MetricProducer {
  const startTime = millisToHrTime(Date.now())
  return {
    async collect() {
      const times = { startTime, endTime: millisToHrTime(Date.now()) }
      const metrics = (await series()).flatMap((one) => metricData(one, times))
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] }
    },
  }
}

type Times = { startTime: HrTime; endTime: HrTime }

function metricData({ name, help, type, values }: Series, times: Times): MetricData[] {
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === 'histogram') {
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(name, values, times) }]
  }
  const dataPoints = values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, labels }) => ({ ...times, value, attributes: { ...labels } }))
  if (type === 'counter') return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
  return type === 'gauge' ? [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }] : []
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return /_bytes(_total)?$/.test(name) ? 'By' : ''
}

/** Prometheus' buckets count all values below their bound, OpenTelemetry's those between two bounds. */
function histogramPoints(name: string, values: Series['values'], times: Times): DataPoint<Histogram>[] {
  const points = new Map<string, DataPoint<Histogram> & { below: number }>()
  for (const { value, labels, metricName } of values) {
    const { le, ...attributes } = labels
    const point = entryOf(points, JSON.stringify(attributes), () => ({
      ...times,
      attributes,
      value: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
      below: 0,
    }))
    if (metricName === `${name}_sum`) point.value.sum = value
    else if (metricName === `${name}_count`) point.value.count = value
    else {
      point.value.buckets.counts.push(value - point.below)
      point.below = value
      if (le !== '+Inf') point.value.buckets.boundaries.push(Number(le))
    }
  }
  return [...points.values()].map(({ startTime, endTime, attributes, value }) => ({
    startTime,
    endTime,
    attributes,
    value,
  }))
}
