/** The metrics of one process for Prometheus. Labels are catalogue names and constants, so the number of series is bounded. */
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import Registry from 'prom-client/lib/registry.js'
import type { MailOutcome } from '@/accounts/mails/worker'
import { findSold } from '@/catalog/aliases'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'
import { nextTurn } from '@/lib/wait/slices'
import type { StoredResponseEvent } from '@/stored-responses/stored-responses'
import { bornFallbacks, bornLanes, bornProviders, bornTargets, NO_MODEL, UNKNOWN_MODEL } from './born-series'
import { exposeCredentials } from './credential-metrics'
import { createEventTotals } from './event-totals'
import { type ExportCounts, exposeExports } from './export-metrics'
import { createLatencies } from './latencies'
import type { DriftReport, Metrics } from './metrics'
import { exposeProcess, type StallWatch } from './process-metrics'
import { createRoutingTotals, type RoutingTotals } from './routing-totals'
import { exposeState, type StateSources } from './state-metrics'
import { createStoreMetrics, type StoreMetrics } from './store-metrics'
import { exposeProviderBills, exposeRouting, exposeTraffic } from './total-metrics'
import { createTrafficTotals } from './traffic-totals'

export interface PrometheusMetrics extends Metrics {
  /** Makes the gauges read `sources` at each scrape. */
  watch(sources: StateSources): void
  connectionsEnded(count: number): void
  depositEvent(provider: string, outcome: string): void
  mail(outcome: MailOutcome): void
  takesDeposits(provider: string, outcomes: readonly string[]): void
  storedResponse(event: StoredResponseEvent): void
  readonly stores: Pick<StoreMetrics, 'called' | 'timed' | 'queried'>
  readonly routing: RoutingTotals
  readonly contentType: string
  /** All metrics as text, without secrets. */
  exposition(): Promise<string>
  /** The metrics for `merged-metrics.ts`, which combines several processes. Faster than {@link exposition}. */
  snapshot(): Promise<string>
  /** Like {@link snapshot}, but as data without the label `process`. */
  series(): Promise<MetricObjectWithValues<MetricValue<string>>[]>
  watchExports(counts: ExportCounts): void
  /** Stops sampling the event loop; the metrics can still be read. */
  stop(): void
}

type PrometheusOptions = {
  catalog: CatalogSource
  stalls?: StallWatch
}

export function createPrometheusMetrics({ catalog, stalls }: PrometheusOptions): PrometheusMetrics {
  const registry = new Registry()
  const stopSampling = exposeProcess(registry, stalls)
  const traffic = createTrafficTotals()
  const routing = createRoutingTotals()
  const failures = { settlement: 0, renewal: 0, connectionsEnded: 0 }
  let drift: DriftReport | undefined
  exposeTraffic(registry, traffic)
  exposeProviderBills(registry, traffic)
  exposeRouting(registry, routing)
  exposeCredentials(registry, catalog)
  const events = createEventTotals(registry)
  const latencies = createLatencies(registry)
  const stores = createStoreMetrics(registry)
  let named: Catalog | undefined

  /** Adds the series of the catalogue. Series of removed names stay, since counters must not disappear. */
  function nameSeries(): void {
    if (named === catalog.current) return
    named = catalog.current
    const providers = bornProviders(named)
    traffic.open(bornLanes(named))
    routing.open(providers, bornFallbacks(named))
    events.open(providers)
    latencies.open(bornTargets(named))
  }

  function boundedModel(model: string | undefined): string {
    if (model === undefined) return NO_MODEL
    return findSold(catalog.current, model)?.id ?? UNKNOWN_MODEL
  }

  nameSeries()
  return {
    answered(answer) {
      traffic.answered(answer)
      latencies.answered(answer)
      if (answer.unknownUsage) events.unknownUsage(answer.provider)
      if (answer.unlistedFinish !== undefined) events.unlistedFinish(answer.provider)
    },
    refused: (format, model, status) => traffic.refused(format, boundedModel(model), status),
    thrownAway: events.thrownAway,
    repaired: events.repaired,
    overhead: latencies.overhead,
    routed: routing.note,
    routing,
    flagged: traffic.flagged,
    idempotent: events.idempotent,
    cached: events.cached,
    storedResponse: events.storedResponse,
    depositEvent: events.deposit,
    mail: events.mail,
    takesDeposits: events.takesDeposits,
    stores,
    settlementFailed() {
      failures.settlement++
    },
    renewalFailed() {
      failures.renewal++
    },
    drift(report) {
      drift = report
    },
    connectionsEnded(count) {
      failures.connectionsEnded += count
    },
    watch(sources) {
      const providerKeys = () => keysOfProviders(catalog.current)
      exposeState(registry, { ...sources, failures, drift: () => drift, providerKeys })
      if (sources.connections) stores.watch(sources.connections)
    },
    contentType: registry.contentType,
    async exposition() {
      nameSeries()
      const families: string[] = []
      for (const { name } of registry.getMetricsAsArray()) {
        families.push(await registry.getSingleMetricAsString(name))
        await nextTurn()
      }
      return `${families.join('\n\n')}\n`
    },
    async snapshot() {
      nameSeries()
      const written: string[] = []
      for (const { name } of registry.getMetricsAsArray()) {
        written.push(JSON.stringify(await registry.getSingleMetric(name)?.get()))
        await nextTurn()
      }
      return `[${written.join(',')}]`
    },
    async series() {
      nameSeries()
      const families: MetricObjectWithValues<MetricValue<string>>[] = []
      for (const { name } of registry.getMetricsAsArray()) {
        const family = await registry.getSingleMetric(name)?.get()
        if (family) families.push(family)
        await nextTurn()
      }
      return families
    },
    watchExports: (counts) => exposeExports(registry, counts),
    stop: stopSampling,
  }
}

function keysOfProviders(catalog: Catalog): Map<string, string[]> {
  const targets = [...catalog.models.values()].flatMap((model) => model.targets)
  const keyed = targets.filter(({ provider }) => provider.keys.length > 0)
  return new Map(keyed.map(({ provider }) => [provider.name, provider.keys.map(({ id }) => id)]))
}
