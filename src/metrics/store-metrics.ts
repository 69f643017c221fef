import type { Registry } from 'prom-client'
import type { PoolState } from '@/db/client'
import { type RedisLoad, STORE_OPERATIONS } from '@/ledger/store-calls'
import { type Distribution, expose, exposeHistogram, labelled } from './series'

/** Names of timed Redis calls that are not the ledger's. */
const OTHER_OPERATIONS = ['idempotency'] as const

const POOLS = ['gateway', 'dashboard', 'flusher'] as const
export type PoolName = (typeof POOLS)[number]

/** The sources of the connection gauges. A pool is undefined while it doesn't exist. */
export type ConnectionSources = {
  redis: Readonly<Record<string, () => RedisLoad>>
  pools: Readonly<Record<PoolName, () => PoolReading | undefined>>
}

/** A pool's current state; `closedCount` is since the start of the process. */
export type PoolReading = PoolState & { maxConnections: number; closedCount: number }

export type StoreMetrics = {
  called(operation: string, milliseconds: number, isAnswered: boolean): void
  timed<T>(operation: (typeof OTHER_OPERATIONS)[number], work: () => Promise<T>): Promise<T>
  queried(pool: PoolName, milliseconds: number, isAnswered: boolean): void
  watch(sources: ConnectionSources): void
}

const BOUNDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Metrics of Redis calls by operation and Postgres queries by pool: latencies, failures, connections. All series exist from the start. */
export function createStoreMetrics(registry: Registry): StoreMetrics {
  const operations = [...STORE_OPERATIONS, ...OTHER_OPERATIONS]
  const called = exposeCalls(registry, 'operation', operations, {
    duration: [
      'svc_redis_duration_seconds',
      'Time of calls to Redis, by operation: a script of the ledger, or idempotency.',
    ],
    failures: ['svc_redis_failures_total', 'Calls to Redis that failed or were not answered in time.'],
  })
  const queried = exposeCalls(registry, 'pool', POOLS, {
    duration: [
      'svc_postgres_query_duration_seconds',
      'Time of statements in Postgres, the wait for a connection included.',
    ],
    failures: [
      'svc_postgres_query_failures_total',
      'Statements that failed because Postgres was away, too slow or in trouble; not those whose values it refused.',
    ],
  })
  async function timed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    let isAnswered = false
    try {
      const reply = await work()
      isAnswered = true
      return reply
    } finally {
      called(operation, performance.now() - startedMs, isAnswered)
    }
  }
  return { called, timed, queried, watch: (sources) => exposeConnections(registry, sources) }
}

type Named = readonly [name: string, help: string]

function exposeCalls(
  registry: Registry,
  label: string,
  names: readonly string[],
  { duration, failures }: { duration: Named; failures: Named },
): (name: string, milliseconds: number, isAnswered: boolean) => void {
  const histogram = exposeHistogram(registry, { name: duration[0], help: duration[1], bounds: BOUNDS })
  const open = (name: string): Call => ({ distribution: histogram.series({ [label]: name }), failures: 0 })
  const calls = new Map(names.map((name) => [name, open(name)]))
  const failed = () => Array.from(calls, ([name, call]) => [name, call.failures] as const)
  expose(registry, labelled(failures[0], failures[1], label, failed))
  return (name, milliseconds, isAnswered) => {
    const call = calls.get(name)
    if (!call) return
    histogram.observe(call.distribution, milliseconds / 1000)
    if (!isAnswered) call.failures++
  }
}

type Call = { distribution: Distribution; failures: number }

function exposeConnections(registry: Registry, { redis, pools }: ConnectionSources): void {
  const ofRedis = (name: string, help: string, read: (load: RedisLoad) => number) =>
    labelled(name, help, 'client', () => Object.entries(redis).map(([client, load]) => [client, read(load())]))
  const openPools = () =>
    POOLS.flatMap((pool) => {
      const state = pools[pool]()
      return state ? [{ pool, state }] : []
    })
  const ofPools = (name: string, help: string, read: (state: PoolReading) => number) =>
    labelled(name, help, 'pool', () => openPools().map(({ pool, state }) => [pool, read(state)]))
  expose(
    registry,
    ofRedis('svc_redis_connected', '1 while this client takes commands, 0 while it looks for its server.', (load) =>
      Number(load.isConnected),
    ),
    ofRedis('svc_redis_commands_in_flight', 'Commands that were sent and not answered yet.', (load) => load.inFlight),
    ofRedis(
      'svc_redis_reconnects_total',
      'Times that this client lost its server and looked for it again.',
      (load) => load.reconnects,
    ),
    {
      name: 'svc_postgres_connections',
      help: 'Connections of this pool, by state: busy, idle or connecting.',
      *samples() {
        for (const { pool, state } of openPools())
          for (const name of ['busy', 'idle', 'connecting'] as const) yield [{ pool, state: name }, state[name]]
      },
    },
    ofPools(
      'svc_postgres_connections_max',
      'Connections that this pool may have.',
      ({ maxConnections }) => maxConnections,
    ),
    ofPools(
      'svc_postgres_queries_waiting',
      'Statements that wait for a connection of this pool.',
      ({ waiting }) => waiting,
    ),
    ofPools(
      'svc_postgres_connections_closed_total',
      'Connections of this pool that have ended: lost, or closed since they had nothing to do.',
      ({ closedCount }) => closedCount,
    ),
  )
}
