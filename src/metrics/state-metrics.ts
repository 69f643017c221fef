import type { Registry } from 'prom-client'
import type { CatalogState } from '@/catalog/reload/participant'
import type { RoutingStatus } from '@/routing/failover/routing-events'
import type { FlusherStatus } from '@/usage/flusher'
import type { DriftReport } from './metrics'
import { expose, labelled, reading } from './series'
import type { ConnectionSources } from './store-metrics'

export type StateSources = {
  openStreams(): number
  openHolds(): number
  unacknowledgedSettlements(): number
  isJournalSound(): boolean
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
  providerKeys(): ReadonlyMap<string, readonly string[]>
}

/** The level of a circuit in dashboards: higher is worse. */
const CIRCUIT_LEVEL = { closed: 0, 'half-open': 1, open: 2 } as const

/** Adds gauges of the current state, which is read only at a scrape. Call it once per registry. */
export function exposeState(registry: Registry, watched: Watched): void {
  const { routing, providerKeys, catalog } = watched
  exposeWork(registry, watched)
  exposeBooks(registry, watched)
  exposeStores(registry, watched)
  exposeDrift(registry, watched)
  if (routing) exposeProviders(registry, routing, providerKeys)
  if (catalog) exposeCatalog(registry, catalog)
}

function exposeWork(registry: Registry, watched: Watched): void {
  const { failures } = watched
  expose(
    registry,
    reading('svc_open_streams', 'Streams being relayed by this process.', watched.openStreams),
    reading('svc_open_holds', 'Holds that this process keeps alive.', watched.openHolds),
    reading(
      'svc_unacknowledged_settlements',
      'Settlements and releases that the ledger has not acknowledged yet and that are sent again.',
      watched.unacknowledgedSettlements,
    ),
    reading(
      'svc_settlement_failures_total',
      'Sendings of a settlement or release that the ledger did not acknowledge.',
      () => failures.settlement,
    ),
    reading('svc_settlement_journal_sound', 'Alert: 0 while the disk refuses the journal of settlements, else 1.', () =>
      Number(watched.isJournalSound()),
    ),
    reading('svc_renewal_failures_total', 'Rounds of hold renewals that failed.', () => failures.renewal),
    reading(
      'svc_failed_requests_lost_total',
      'Failed requests that are in no list and no count of their account, since the history was away for too long.',
      watched.lostFailures,
    ),
    reading(
      'svc_connections_ended_total',
      'Connections that were ended because one address, or all together, had too many.',
      () => failures.connectionsEnded,
    ),
  )
}

function exposeBooks(registry: Registry, { flusher }: Watched): void {
  expose(
    registry,
    reading(
      'svc_flusher_lag_records',
      'Usage records that have not reached the history yet, in all shards.',
      () => flusher().lagRecords,
    ),
    reading(
      'svc_flusher_lag_seconds',
      'Alert: how long the oldest of them has been waiting, as far as this process can tell; 0 where none is.',
      () => flusher().lagSeconds,
    ),
    reading(
      'svc_flusher_inserted_records_total',
      'Usage records that this process wrote.',
      () => flusher().insertedRecords,
    ),
    reading(
      'svc_flusher_dead_letters_total',
      'Alert: usage records that this process had to put aside.',
      () => flusher().deadLetters,
    ),
    reading('svc_flusher_healthy', '1 while usage records get to the history, 0 while they only queue.', () =>
      Number(flusher().healthy),
    ),
  )
}

function exposeStores(registry: Registry, { store, mails }: Watched): void {
  expose(
    registry,
    reading(
      'svc_store_memory_ratio',
      'Alert: of the fullest Redis node, the part of maxmemory in use, or of its machine where it has none.',
      () => store().memoryShare,
    ),
    reading('svc_store_takes_requests', 'Alert: 1 while every Redis node takes what paid requests write, else 0.', () =>
      Number(store().partFault === undefined),
    ),
    reading('svc_mails_waiting', 'Mails that have not been sent yet, for all gateways.', () => mails().mails),
    reading(
      'svc_mails_waiting_seconds',
      'Alert: for how long the oldest of them has been waiting; 0 where none is.',
      () => mails().seconds,
    ),
  )
}

function exposeDrift(registry: Registry, { drift }: Watched): void {
  expose(
    registry,
    labelled(
      'svc_ledger_drift_violations',
      'Alert: violations that the last ledger check found, by kind. `total` is always there.',
      'kind',
      () => {
        const found = Object.entries(drift()?.violations ?? {})
        return [...found, ['total', found.reduce((sum, [, count]) => sum + count, 0)]]
      },
    ),
    reading(
      'svc_ledger_check_timestamp_seconds',
      'When the last ledger check that this process knows of ended; 0 before the first.',
      () => (drift()?.atMs ?? 0) / 1000,
    ),
    reading('svc_ledger_check_duration_seconds', 'How long it took.', () => (drift()?.durationMs ?? 0) / 1000),
    reading('svc_ledger_check_accounts', 'How many accounts it looked at.', () => drift()?.accounts ?? 0),
  )
}

function exposeProviders(
  registry: Registry,
  routing: () => RoutingStatus,
  providerKeys: Watched['providerKeys'],
): void {
  expose(
    registry,
    labelled('svc_circuit_state', '0 closed, 1 half-open, 2 open.', 'target', () =>
      routing().circuits.map(({ id, state }) => [id, CIRCUIT_LEVEL[state]]),
    ),
    labelled('svc_provider_key_resting', 'Keys that rest: 1 cooling, 2 refused. By digest.', 'key', () =>
      [...routing().keys].map(([id, { state }]) => [id, state === 'out' ? 2 : 1]),
    ),
    labelled('svc_provider_keys_usable', 'Keys that neither cool nor are refused.', 'provider', () => {
      const resting = routing().keys
      return [...providerKeys()].map(([provider, keys]) => [provider, keys.filter((id) => !resting.has(id)).length])
    }),
    labelled(
      'svc_provider_key_draining',
      'Calls under way on provider keys that a reload took out of use. By digest.',
      'key',
      () => routing().draining,
    ),
    labelled('svc_provider_calls_in_flight', 'Calls in flight.', 'provider', () =>
      routing().providers.map(({ provider, inFlight }) => [provider, inFlight]),
    ),
    labelled('svc_provider_calls_queued', 'Requests that wait for a slot.', 'provider', () =>
      routing().providers.map(({ provider, queued }) => [provider, queued]),
    ),
  )
}

function exposeCatalog(registry: Registry, read: () => CatalogState): void {
  expose(
    registry,
    labelled(
      'svc_catalog_info',
      'Always 1; `hash` is the same wherever the same is sold at the same prices, with the same provider keys.',
      'hash',
      () => [[read().hash, 1]],
    ),
    reading(
      'svc_catalog_loaded_timestamp_seconds',
      'When the catalogue in use was last read, at the start or by a reload.',
      () => read().loadedAtMs / 1000,
    ),
    labelled(
      'svc_catalog_reloads_total',
      'Reloads by outcome: taken, refused (the file has faults), abandoned (others were not ready with the same), missed.',
      'outcome',
      () => Object.entries(read().reloads),
    ),
  )
}
