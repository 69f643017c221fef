/** Wires the stored answers of one process over its stores, and what people choose for theirs. */
import type { ChangedBy } from '@/accounts/audit'
import { changeStoredHours } from '@/accounts/stored-hours'
import type { Config } from '@/config/config'
import type { Database } from '@/db/client'
import type { RedisClient } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import { createStoredResponses, type StoredResponses } from '@/stored-responses/stored-responses'

type Parts = {
  config: Config
  database: Database
  redis: RedisClient
  logger: Logger
  metrics: Pick<PrometheusMetrics, 'storedResponse'>
}

/** Stored answers, of which any gateway finds the newest at once. */
export function assembleStoredResponses({ config, database, redis, logger, metrics }: Parts): StoredResponses {
  return createStoredResponses({
    database,
    copies: {
      set: (name, value, ttlSeconds) => redis.set(name, value, 'EX', ttlSeconds),
      get: (name) => redis.get(name),
      delete: (name) => redis.del(name),
    },
    clock: systemClock,
    logger,
    onEvent: metrics.storedResponse,
    ...config.storedResponses,
  })
}

/** Notes what an account has chosen first, so that nothing is stored behind it, and then heeds it for what there is. */
export function keepingFor(database: Database, storedResponses: StoredResponses) {
  return async (accountId: string, hours: number | null, by: ChangedBy): Promise<void> => {
    await changeStoredHours(database, { accountId, hours, by })
    await storedResponses.keepFor(accountId, hours)
  }
}
