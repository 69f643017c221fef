/** The state of the moment as metrics: asked for when somebody reads them, and never otherwise. */

import type { Registry } from 'prom-client'
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import type { CatalogState } from '@/catalog/reload/participant'
import type { RoutingStatus } from '@/routing/failover/routing-events'
import type { FlusherStatus } from '@/usage/flusher'
import type { DriftReport } from './metrics'
import type { ConnectionSources } from './store-metrics'

/** Where the gauges look. */
export type StateSources = {
  openStreams(): number
  openHolds(): number
  unacknowledgedSettlements(): number
  flusher(): FlusherStatus
  mails(): { mails: number; seconds: number }
  store(): { partFault: string | undefined; memoryShare: number }
  lostFailures(): number
  routing?(): RoutingStatus
  connections?: ConnectionSources
  catalog?: (() => CatalogState) | undefined
}

type Failures = { settlement: number; renewal: number; connectionsEnded: number }
type Watched = StateSources & {
  failures: Failures
  drift(): DriftReport | undefined
  /** The ids of each provider's keys. */
  providerKeys(): ReadonlyMap<string, readonly string[]>
}
type Reading = { name: string; help: string; read(): number }

/** How dashboards draw a circuit: the higher, the worse. */
const CIRCUIT_LEVEL = { closed: 0, 'half-open': 1, open: 2 } as const

/** Adds gauges over `watched`. Once per registry. */
export function exposeState(registry: Registry, watched: Watched): void {
  for (const reading of [
    ...workReadings(watched),
    ...bookReadings(watched),
    ...storeReadings(watched),
    ...mailReadings(watched),
  ])
    expose(registry, reading)
  exposeDrift(registry, watched)
  const { routing, providerKeys, catalog } = watched
  if (routing) exposeProviders(registry, routing, providerKeys)
  if (catalog) exposeCatalog(registry, catalog)
}

function workReadings(watched: Watched): Reading[] {
  return [
    { name: 'svc_open_streams', help: 'Streams being relayed by this process.', read: watched.openStreams },
    { name: 'svc_open_holds', help: 'Holds that this process keeps alive.', read: watched.openHolds },
    {
      name: 'svc_unacknowledged_settlements',
      help: 'Settlements and releases that the ledger has not acknowledged yet and that are sent again.',
      read: watched.unacknowledgedSettlements,
    },
    {
      name: 'svc_settlement_failures_total',
      help: 'Sendings of a settlement or release that the ledger did not acknowledge.',
      read: () => watched.failures.settlement,
    },
    {
      name: 'svc_renewal_failures_total',
      help: 'Rounds of hold renewals that failed.',
      read: () => watched.failures.renewal,
    },
    {
      name: 'svc_failed_requests_lost_total',
      help: 'Failed requests that are in no list and no count of their account, since the history was away for too long.',
      read: watched.lostFailures,
    },
    {
      name: 'svc_connections_ended_total',
      help: 'Connections that were ended because one address, or all together, had too many.',
      read: () => watched.failures.connectionsEnded,
    },
  ]
}

function bookReadings({ flusher }: Watched): Reading[] {
  return [
    {
      name: 'svc_flusher_lag_records',
      help: 'Usage records that have not reached the history yet, in all shards.',
      read: () => flusher().lagRecords,
    },
    {
      name: 'svc_flusher_lag_seconds',
      help: 'Alert: how long the oldest of them has been waiting, as far as this process can tell; 0 where none is.',
      read: () => flusher().lagSeconds,
    },
    {
      name: 'svc_flusher_inserted_records_total',
      help: 'Usage records that this process wrote.',
      read: () => flusher().insertedRecords,
    },
    {
      name: 'svc_flusher_dead_letters_total',
      help: 'Alert: usage records that this process had to put aside.',
      read: () => flusher().deadLetters,
    },
    {
      name: 'svc_flusher_healthy',
      help: '1 while usage records get to the history, 0 while they only queue.',
      read: () => Number(flusher().healthy),
    },
  ]
}

function storeReadings({ store }: Watched): Reading[] {
  return [
    {
      name: 'svc_store_memory_ratio',
      help: 'Alert: of the fullest Redis node, the part of maxmemory in use, or of its machine where it has none.',
      read: () => store().memoryShare,
    },
    {
      name: 'svc_store_takes_requests',
      help: 'Alert: 1 while every Redis node takes what paid requests write, else 0.',
      read: () => Number(store().partFault === undefined),
    },
  ]
}

function mailReadings({ mails }: Watched): Reading[] {
  return [
    {
      name: 'svc_mails_waiting',
      help: 'Mails that have not been sent yet, for all gateways.',
      read: () => mails().mails,
    },
    {
      name: 'svc_mails_waiting_seconds',
      help: 'Alert: for how long the oldest of them has been waiting; 0 where none is.',
      read: () => mails().seconds,
    },
  ]
}

function exposeDrift(registry: Registry, { drift }: Watched): void {
  const violations: Gauge = new Gauge({
    name: 'svc_ledger_drift_violations',
    help: 'Alert: violations that the last ledger check found, by kind. `total` is always there.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      violations.reset()
      const found = Object.entries(drift()?.violations ?? {})
      for (const [kind, count] of found) violations.set({ kind }, count)
      violations.set(
        { kind: 'total' },
        found.reduce((sum, [, count]) => sum + count, 0),
      )
    },
  })
  expose(registry, {
    name: 'svc_ledger_check_timestamp_seconds',
    help: 'When the last ledger check that this process knows of ended; 0 before the first.',
    read: () => (drift()?.atMs ?? 0) / 1000,
  })
  expose(registry, {
    name: 'svc_ledger_check_duration_seconds',
    help: 'How long it took.',
    read: () => (drift()?.durationMs ?? 0) / 1000,
  })
  expose(registry, {
    name: 'svc_ledger_check_accounts',
    help: 'How many accounts it looked at.',
    read: () => drift()?.accounts ?? 0,
  })
}

function exposeProviders(
  registry: Registry,
  routing: () => RoutingStatus,
  providerKeys: Watched['providerKeys'],
): void {
  labelled(registry, 'svc_circuit_state', '0 closed, 1 half-open, 2 open.', 'target', () =>
    routing().circuits.map(({ id, state }) => [id, CIRCUIT_LEVEL[state]]),
  )
  labelled(registry, 'svc_provider_key_resting', 'Keys that rest: 1 cooling, 2 refused. By digest.', 'key', () =>
    [...routing().keys].map(([id, { state }]) => [id, state === 'out' ? 2 : 1]),
  )
  labelled(registry, 'svc_provider_keys_usable', 'Keys that neither cool nor are refused.', 'provider', () => {
    const resting = routing().keys
    return [...providerKeys()].map(([provider, keys]) => [provider, keys.filter((id) => !resting.has(id)).length])
  })
  const draining = 'Calls under way on provider keys that a reload took out of use. By digest.'
  labelled(registry, 'svc_provider_key_draining', draining, 'key', () => [...routing().draining])
  labelled(registry, 'svc_provider_calls_in_flight', 'Calls in flight.', 'provider', () =>
    routing().providers.map(({ provider, inFlight }) => [provider, inFlight]),
  )
  labelled(registry, 'svc_provider_calls_queued', 'Requests that wait for a slot.', 'provider', () =>
    routing().providers.map(({ provider, queued }) => [provider, queued]),
  )
}

function labelled(registry: Registry, name: string, help: string, label: string, read: () => [string, number][]): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      gauge.reset()
      for (const [value, level] of read()) gauge.set({ [label]: value }, level)
    },
  })
}

/** A reading whose name ends in `_total` only ever grows, and is a counter. */
function expose(registry: Registry, { name, help, read }: Reading): void {
  if (!name.endsWith('_total')) {
    const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(read()) })
    return
  }
  const counter: Counter = new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      counter.reset()
      counter.inc(read())
    },
  })
}

/** Adds the series. Once per registry. */
function exposeCatalog(registry: Registry, read: () => CatalogState): void {
  const registers = [registry]
  const info: Gauge = new Gauge({
    name: 'svc_catalog_info',
    help: 'Always 1; `hash` is the same wherever the same is sold at the same prices, with the same provider keys.',
    labelNames: ['hash'],
    registers,
    collect() {
      info.reset()
      info.set({ hash: read().hash }, 1)
    },
  })
  const loaded: Gauge = new Gauge({
    name: 'svc_catalog_loaded_timestamp_seconds',
    help: 'When the catalogue in use was last read, at the start or by a reload.',
    registers,
    collect: () => loaded.set(read().loadedAtMs / 1000),
  })
  const reloads: Counter = new Counter({
    name: 'svc_catalog_reloads_total',
    help: 'Reloads by outcome: taken, refused (the file has faults), abandoned (others were not ready with the same), missed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      reloads.reset()
      for (const [outcome, count] of Object.entries(read().reloads)) reloads.inc({ outcome }, count)
    },
  })
}
