/**
 * The metrics of one gateway process in Prometheus' text format. Every label is a name of the catalogue or a word of ours:
 * what a client sends never becomes one, so the number of series is bounded.
 */
import { Histogram, Registry } from 'prom-client'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'
import type { Repair } from '@/formats/format'
import type { DriftReport, Metrics } from './metrics'
import { exposeProcess, type OnStall } from './process-metrics'
import { createRoutingTotals, type RoutingTotals } from './routing-totals'
import { exposeState, type StateSources } from './state-metrics'
import {
  exposeDeposits,
  exposeProviderBills,
  exposeRepairs,
  exposeRouting,
  exposeTraffic,
  exposeUnknownUsage,
} from './total-metrics'
import { createTrafficTotals, entryOf } from './traffic-totals'

/** Metrics that can be read. */
export interface PrometheusMetrics extends Metrics {
  /** From now on the gauges read their values from `sources` whenever somebody asks. */
  watch(sources: StateSources): void
  /** What became of an event of a provider of deposits. Both are words of ours. */
  depositEvent(provider: string, outcome: string): void
  /** The series of providers that are new in `catalog` begin at zero. */
  sells(catalog: Catalog): void
  /** What this process has counted of its providers since it started. */
  readonly routing: RoutingTotals
  readonly contentType: string
  /** All metrics as text, with no secret in it. */
  exposition(): Promise<string>
  /** Ends the sampling of the event loop; what was counted can still be read. */
  stop(): void
}

type PrometheusOptions = {
  catalog: CatalogSource
  /** Tells the processes that share one port apart; undefined where there is one only. */
  process?: string | undefined
  onStall?: OnStall
}

/** Requests that named no model, and those that named none of ours. */
const NO_MODEL = 'none'
const UNKNOWN_MODEL = 'unknown'

const OVERHEAD_BUCKETS = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 1]
const LATENCY_BUCKETS = [0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600]

/** Creates the metrics of one process, in a registry of their own. */
export function createPrometheusMetrics({ catalog, process, onStall }: PrometheusOptions): PrometheusMetrics {
  const registry = new Registry()
  if (process !== undefined) registry.setDefaultLabels({ process })
  const stopSampling = exposeProcess(registry, onStall)
  const traffic = createTrafficTotals()
  const routing = createRoutingTotals(providerNames(catalog.current))
  const failures = { settlement: 0, renewal: 0 }
  let drift: DriftReport | undefined
  const unknownUsage = new Map([...providerNames(catalog.current)].map((name) => [name, 0]))
  const deposits = new Map<string, Map<string, number>>()
  exposeDeposits(registry, deposits)
  exposeTraffic(registry, traffic)
  exposeProviderBills(registry, traffic)
  const repairs = new Map<string, Map<Repair, number>>()
  exposeUnknownUsage(registry, unknownUsage)
  exposeRepairs(registry, repairs)
  exposeRouting(registry, routing)
  const histograms = createHistograms(registry)
  const labels = createLabelCache()

  function boundedModel(model: string | undefined): string {
    if (model === undefined) return NO_MODEL
    const { models, tiers } = catalog.current
    return models.has(model) || tiers.has(model) ? model : UNKNOWN_MODEL
  }

  return {
    answered(request) {
      traffic.answered(request)
      const names = labels(request.model, request.provider)
      histograms.duration.observe(names, request.durationMs / 1000)
      if (request.firstTokenMs !== null) histograms.firstToken.observe(names, request.firstTokenMs / 1000)
    },
    refused: (format, model, status) => traffic.refused(format, boundedModel(model), status),
    unknownUsage: (provider) => void unknownUsage.set(provider, (unknownUsage.get(provider) ?? 0) + 1),
    repaired(provider, repair) {
      const counts = entryOf(repairs, provider, () => new Map<Repair, number>())
      counts.set(repair, (counts.get(repair) ?? 0) + 1)
    },
    overhead: (milliseconds) => histograms.overhead.observe(milliseconds / 1000),
    sells(sold) {
      const names = providerNames(sold)
      routing.know(names)
      for (const name of names) unknownUsage.set(name, unknownUsage.get(name) ?? 0)
    },
    routed: routing.note,
    routing,
    flagged: traffic.flagged,
    depositEvent(provider, outcome) {
      const byOutcome = deposits.get(provider) ?? new Map<string, number>()
      deposits.set(provider, byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1))
    },
    settlementFailed() {
      failures.settlement++
    },
    renewalFailed() {
      failures.renewal++
    },
    drift(report) {
      drift = report
    },
    watch: (sources) => exposeState(registry, { ...sources, failures, drift: () => drift }),
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
    stop: stopSampling,
  }
}

function createHistograms(registry: Registry) {
  const registers = [registry]
  const labelNames = ['model', 'provider'] as const
  return {
    overhead: new Histogram({
      name: 'svc_overhead_seconds',
      help: 'Time of an answer up to its headers that was not spent waiting for the upstream.',
      buckets: OVERHEAD_BUCKETS,
      registers,
    }),
    firstToken: new Histogram({
      name: 'svc_time_to_first_token_seconds',
      help: 'Time from the arrival of a streaming request to its first content.',
      labelNames,
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    duration: new Histogram({
      name: 'svc_request_duration_seconds',
      help: 'Time from the arrival of an answered request to the end of its answer.',
      labelNames,
      buckets: LATENCY_BUCKETS,
      registers,
    }),
  }
}

/** One object of labels per model and provider, made once. */
function createLabelCache(): (model: string, provider: string) => { model: string; provider: string } {
  const cache = new Map<string, Map<string, { model: string; provider: string }>>()
  return (model, provider) => {
    const byProvider = entryOf(cache, model, () => new Map<string, { model: string; provider: string }>())
    return entryOf(byProvider, provider, () => ({ model, provider }))
  }
}

function providerNames(catalog: Catalog): Set<string> {
  const targets = [...catalog.models.values()].flatMap((model) => model.targets)
  return new Set(targets.map((target) => target.provider.name))
}
