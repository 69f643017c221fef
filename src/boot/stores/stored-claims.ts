/** The claims of idempotency keys in the gateway's Redis: each call is timed, and a user that may not make it is told of. */
import type { Config } from '@/config/config'
import { type Claims, createClaims, type RunScript } from '@/http/idempotency/claims'
import { createRoom } from '@/http/idempotency/room'
import { runText } from '@/ledger/run-text'
import { type RedisClient, tellIfForbidden } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'
import type { PrometheusMetrics } from '@/metrics/prometheus'

type Parts = {
  redis: RedisClient
  storeWatch: Pick<StoreWatch, 'state'>
  config: Pick<Config, 'redisFullPercent' | 'processes'>
  metrics: PrometheusMetrics
}

/** Creates them. The fuller the store is, the fewer answers are kept in it. */
export function createStoredClaims({ redis, storeWatch, config, metrics }: Parts): Claims {
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
  return createClaims({ run, room })
}
