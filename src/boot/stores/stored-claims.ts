/** Idempotency-key claims and cached answers in Redis, with timing of each call and reports of missing rights. */
import type { Config } from '@/config/config'
import type { Database } from '@/db/client'
import { type AnswerCache, createAnswerCache } from '@/http/answer-cache/answer-cache'
import { createBookedClaims } from '@/http/idempotency/booked-claims'
import { type Claims, createClaims } from '@/http/idempotency/claims'
import { createKeptAnswers, type RunScript } from '@/http/idempotency/kept-answers'
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
 * Creates the stores of idempotency keys and of cached answers, which share a part of Redis' memory. The fuller Redis is, the fewer answers
 * are kept. After an outage, answers of idempotency keys that Redis may have lost are written again.
 */
export function createStoredClaims({ redis, storeWatch, config, metrics, ledger, database, logger }: Parts): {
  claims: Claims
  cache: AnswerCache
} {
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
  const kept = createKeptAnswers({ run, room })
  const resent = createResentClaims(createClaims({ run, room, kept }), systemClock, logger)
  ledger.onStoreReturn(resent.storeReturned)
  const claims = createBookedClaims({
    claims: resent,
    storeSinceMs: ledger.storeSinceMs,
    now: systemClock.now,
    findCharged: (accountId, keyDigest) => findChargedRequest(database.sql, accountId, keyDigest),
  })
  return { claims, cache: createAnswerCache(run, kept) }
}
