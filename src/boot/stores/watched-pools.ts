import { connectDatabase, type Database } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import type { ConnectionSources, PoolName, PoolReading, StoreMetrics } from '@/metrics/store-metrics'

type PoolOptions = { maxConnections: number; statementTimeoutMs?: number }

type WatchedPools = {
  open(name: PoolName, options: PoolOptions): Database
  readings: ConnectionSources['pools']
}

/** Opens the database pools of one process, with metrics. `queried` is called for every statement. */
export function createWatchedPools(databaseUrl: string, queried: StoreMetrics['queried']): WatchedPools {
  const opened = new Map<PoolName, Database>()
  /** The closed connections of replaced pools, added so that a counter never falls. */
  const closedBefore = new Map<PoolName, number>()

  function reading(name: PoolName): PoolReading | undefined {
    const database = opened.get(name)
    if (!database) return undefined
    const closedCount = database.closedCount() + (closedBefore.get(name) ?? 0)
    return { ...database.pool(), maxConnections: database.maxConnections, closedCount }
  }

  return {
    open(name, options) {
      closedBefore.set(name, reading(name)?.closedCount ?? 0)
      const database = connectDatabase(databaseUrl, {
        ...options,
        applicationName: name,
        onStatement: (milliseconds, error) => queried(name, milliseconds, !isTrouble(error)),
      })
      opened.set(name, database)
      return database
    },
    readings: {
      gateway: () => reading('gateway'),
      dashboard: () => reading('dashboard'),
      flusher: () => reading('flusher'),
    },
  }
}

/** Whether the database itself failed. Rejected values and conflicts between transactions don't count. */
function isTrouble(error: unknown): boolean {
  return error !== undefined && databaseFailure(error) === 'unavailable'
}
