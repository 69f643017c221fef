/** The claims of idempotency keys in the gateway's Redis: each call is timed, and a user that may not make it is told of. */
import type { Config } from '@/config/config'
import { type Claims, createClaims, type RunScript, roomFor } from '@/http/idempotency/claims'
import { type RedisClient, tellIfForbidden } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'
import type { PrometheusMetrics } from '@/metrics/prometheus'

type Parts = {
  redis: RedisClient
  storeWatch: Pick<StoreWatch, 'state'>
  config: Pick<Config, 'redisFullPercent'>
  metrics: PrometheusMetrics
}

/** Creates them. The fuller the store is, the fewer answers are kept in it. */
export function createStoredClaims({ redis, storeWatch, config, metrics }: Parts): Claims {
  const { timed } = metrics.stores
  const room = () => roomFor(storeWatch.state().memoryShare, config.redisFullPercent / 100)
  const run: RunScript = async (text, names, args) => {
    try {
      return await timed('idempotency', () => redis.eval(text, names.length, ...names, ...args))
    } catch (error) {
      tellIfForbidden(redis, error)
      throw error
    }
  }
  return createClaims(run, undefined, room)
}
