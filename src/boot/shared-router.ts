/** A router that shares health and conversations with other gateways, so that any of them can continue a conversation. */
import { type LiveCatalog, perCatalog } from '@/catalog/reload/live-catalog'
import { runText } from '@/ledger/run-text'
import type { RedisClient } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import { randomId } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { createHealthExchange, providerAddresses } from '@/routing/health/health-exchange'
import { createRouter, type Router } from '@/routing/router'

export function createSharedRouter(
  catalog: LiveCatalog,
  redis: RedisClient,
  logger: Logger,
  metrics: Pick<PrometheusMetrics, 'routed'>,
): Router {
  const addresses = perCatalog(catalog, providerAddresses)
  const router = createRouter({
    catalog,
    clock: systemClock,
    exchange: createHealthExchange({
      run: (script, key, args) => runText(redis, script, [key], args),
      gatewayId: randomId('gw'),
      addressOf: (provider) => addresses().get(provider),
      logger,
    }),
    sessions: {
      get: (key) => redis.get(key),
      set: (key, value, ttlSeconds) => redis.set(key, value, 'EX', ttlSeconds),
    },
    onEvent(event) {
      metrics.routed(event)
      logRoutingEvent(logger, event)
    },
  })
  catalog.onReplaced(router.renew)
  return router
}

function logRoutingEvent(logger: Logger, event: RoutingEvent): void {
  if (event.type === 'key-out') logger.error('provider_key_refused', event)
  else if (event.type === 'circuit') logger.warn('circuit_changed', event)
  else if (event.type === 'key-drained') logger.info('provider_key_drained', { key: event.key })
}
