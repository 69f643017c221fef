import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { Provider, Target } from '@/catalog/types'
import type { RoutingStatus } from '@/routing/failover/routing-events'
import type { CircuitState } from '@/routing/health/circuit-breaker'
import { providerKeyId, targetId } from '@/routing/health/target-id'
import type { Router } from '@/routing/router'

type RoutingCounts = {
  /** Counts by provider, then by outcome: `answered` or a fault class. */
  attempts: ReadonlyMap<string, ReadonlyMap<string, { count: number; milliseconds: number }>>
  /** Counts by the failed model, the next model, and the reason. */
  fallbacks: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>>
  sums: Readonly<Record<'retry' | 'broken' | 'shed', ReadonlyMap<string, number>>>
}

export type HealthSources = {
  catalog: CatalogSource
  router: Pick<Router, 'status' | 'latencyMs'>
  counts: RoutingCounts
}

type TargetHealth = {
  target: string
  model: string
  circuit: CircuitState
  /** Another gateway opened this circuit and probes the target. */
  isAdopted: boolean
  /** Outcomes of the last half minute. */
  recent: { all: number; failed: number; slow: number }
  /** Milliseconds until an answer begins; null if unknown. */
  latencyMs: { stream: number | null; whole: number | null }
}

type KeyHealth = { key: string; state: 'usable' | 'cooling' | 'out'; forMs: number }

type ProviderHealth = {
  provider: string
  format: string
  host: string
  inFlight: number
  queued: number
  limit: number | null
  attempts: { outcome: string; count: number; averageMs: number }[]
  retries: number
  broken: number
  shed: number
  keys: KeyHealth[]
  targets: TargetHealth[]
}

type Fallback = { from: string; to: string; reason: string; count: number }

type HealthReport = { providers: ProviderHealth[]; fallbacks: Fallback[] }

/** The state of providers and targets, with digests of keys. All gateways share circuits and keys; the counts are of this process only. */
export function reportHealth(sources: HealthSources): HealthReport {
  const status = sources.router.status()
  const providers = [...sources.catalog.current.providers.values()].map((provider) =>
    providerHealth(sources, status, provider),
  )
  return { providers, fallbacks: fallbacksOf(sources.counts) }
}

function providerHealth(sources: HealthSources, status: RoutingStatus, provider: Provider): ProviderHealth {
  const { counts } = sources
  const { name } = provider
  const load = status.providers.find((item) => item.provider === name)
  const attempts = [...(counts.attempts.get(name) ?? [])]
    .filter(([, { count }]) => count > 0)
    .map(([outcome, { count, milliseconds }]) => ({ outcome, count, averageMs: Math.round(milliseconds / count) }))
  return {
    provider: name,
    format: provider.format,
    host: new URL(provider.baseUrl).host,
    inFlight: load?.inFlight ?? 0,
    queued: load?.queued ?? 0,
    limit: Number.isFinite(provider.maxConcurrency) ? provider.maxConcurrency : null,
    attempts: attempts.sort((one, other) => other.count - one.count),
    retries: counts.sums.retry.get(name) ?? 0,
    broken: counts.sums.broken.get(name) ?? 0,
    shed: counts.sums.shed.get(name) ?? 0,
    keys: provider.keys.map((key) => {
      const rest = status.keys.get(providerKeyId(provider, key))
      return { key: key.id, state: rest?.state ?? 'usable', forMs: Math.round(rest?.forMs ?? 0) }
    }),
    targets: targetsOf(sources, status, provider),
  }
}

function targetsOf({ catalog, router }: HealthSources, status: RoutingStatus, provider: Provider): TargetHealth[] {
  const found = new Map<string, TargetHealth>()
  for (const model of catalog.current.models.values()) {
    for (const target of model.targets) {
      const id = targetId(target)
      if (target.provider.name !== provider.name || found.has(`${model.id} ${id}`)) continue
      found.set(`${model.id} ${id}`, { model: model.id, ...targetHealth(router, status, target) })
    }
  }
  return [...found.values()]
}

function targetHealth(
  router: HealthSources['router'],
  status: RoutingStatus,
  target: Target,
): Omit<TargetHealth, 'model'> {
  const id = targetId(target)
  const circuit = status.circuits.find((item) => item.id === id)
  const latency = (stream: boolean) => {
    const milliseconds = router.latencyMs(target, stream)
    return milliseconds === undefined ? null : Math.round(milliseconds)
  }
  return {
    target: id,
    circuit: circuit?.state ?? 'closed',
    isAdopted: circuit?.isAdopted ?? false,
    recent: {
      all: circuit?.totals.all ?? 0,
      failed: circuit?.totals.failures ?? 0,
      slow: circuit?.totals.slow ?? 0,
    },
    latencyMs: { stream: latency(true), whole: latency(false) },
  }
}

function fallbacksOf(counts: RoutingCounts): Fallback[] {
  const found: Fallback[] = []
  for (const [from, byNext] of counts.fallbacks) {
    for (const [to, byReason] of byNext) {
      for (const [reason, count] of byReason) if (count > 0) found.push({ from, to, reason, count })
    }
  }
  return found.sort((one, other) => other.count - one.count)
}
