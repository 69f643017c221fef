/** The claims of idempotency keys in the gateway's Redis: each call is timed, and a user that may not make it is told of. */
import { type Claims, createClaims } from '@/http/idempotency/claims'
import { type RedisClient, tellIfForbidden } from '@/ledger/store/connection'
import type { PrometheusMetrics } from '@/metrics/prometheus'

/** Creates them. */
export function createStoredClaims(redis: RedisClient, { timed }: PrometheusMetrics['stores']): Claims {
  return createClaims(async (text, names, args) => {
    try {
      return await timed('idempotency', () => redis.eval(text, names.length, ...names, ...args))
    } catch (error) {
      tellIfForbidden(redis, error)
      throw error
    }
  })
}
