/** Idempotency-key claims in Redis, with timing of each call and reports of missing rights. */
import type { Config } from '@/config/config'
import type { Database } from '@/db/client'
import { createBookedClaims } from '@/http/idempotency/booked-claims'
import { type Claims, createClaims, type RunScript } from '@/http/idempotency/claims'
import { createResentClaims } from '@/http/idempotency/resent-claims'
import { createRoom } from '@/http/idempotency/room'
import type { Ledger } from '@/ledger/ledger'
import { runText } from '@/ledger/run-text'
import { type RedisClient, tellIfForbidden } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import { findChargedRequest } from '@/usage/charged-keys'

type Parts = {
  redis: RedisClient
  storeWatch: Pick<StoreWatch, 'state'>
  config: Pick<Config, 'redisFullPercent' | 'processes'>
  metrics: PrometheusMetrics
  ledger: Pick<Ledger, 'onStoreReturn' | 'storeSinceMs'>
  database: Database
  logger: Logger
}

/**
 * Creates the store of idempotency keys. The fuller Redis is, the fewer answers are kept. After an outage, answers that Redis may have lost
 * are written again.
 */
export function createStoredClaims({ redis, storeWatch, config, metrics, ledger, database, logger }: Parts): Claims {
  const { timed } = metrics.stores
  const run: RunScript = async (text, names, args) => {
    try {
      return await timed('idempotency', () => runText(redis, text, names, args))
    } catch (error) {
      tellIfForbidden(redis, error)
      throw error
    }
  }
  const room = createRoom({
    state: storeWatch.state,
    fullShare: config.redisFullPercent / 100,
    processes: config.processes,
  })
  const claims = createResentClaims(createClaims({ run, room }), systemClock, logger)
  ledger.onStoreReturn(claims.storeReturned)
  return createBookedClaims({
    claims,
    storeSinceMs: ledger.storeSinceMs,
    now: systemClock.now,
    findCharged: (accountId, keyDigest) => findChargedRequest(database.sql, accountId, keyDigest),
  })
}
