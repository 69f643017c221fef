/** Connects stored answers to their stores, and to the accounts' settings for them. */
import type { ChangedBy } from '@/accounts/audit'
import { changeStoredHours } from '@/accounts/stored-hours'
import type { Config } from '@/config/config'
import type { Database } from '@/db/client'
import { ANSWERS_SHARE } from '@/http/idempotency/room'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import { createStoredResponses, type StoredResponses } from '@/stored-responses/stored-responses'

type Parts = {
  config: Config
  database: Database
  redis: RedisClient
  storeWatch: Pick<StoreWatch, 'state'>
  logger: Logger
  metrics: Pick<PrometheusMetrics, 'storedResponse'>
}

/** Assembles the store of answers. Any gateway finds the newest answers at once. */
export function assembleStoredResponses(parts: Parts): StoredResponses {
  const { config, database, redis, storeWatch, logger, metrics } = parts
  const crowdedShare = (config.redisFullPercent / 100) * ANSWERS_SHARE
  return createStoredResponses({
    database,
    copies: {
      set: (name, value, ttlSeconds) => redis.set(name, value, 'EX', ttlSeconds),
      get: (name) => redis.get(name),
      delete: (name) => redis.del(name),
      isCrowded: () => storeWatch.state().memoryShare >= crowdedShare,
    },
    clock: systemClock,
    logger,
    onEvent: metrics.storedResponse,
    ...config.storedResponses,
  })
}

/** First saves an account's setting, so that later answers respect it, then applies it to existing answers. */
export function keepingFor(database: Database, storedResponses: StoredResponses) {
  return async (accountId: string, hours: number | null, by: ChangedBy): Promise<void> => {
    await changeStoredHours(database, { accountId, hours, by })
    await storedResponses.keepFor(accountId, hours)
  }
}
