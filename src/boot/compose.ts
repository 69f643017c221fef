/** Wires the modules of one server process together over its stores, and runs the background workers. */
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createIdentify } from '@/accounts/identify'
import { createOutboxWorker } from '@/accounts/outbox'
import { type AppDeps, buildApp } from '@/app'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { connectDatabase, type Database } from '@/db/client'
import { formatsWithMessages } from '@/formats/index'
import { createHoldKeeper, type HoldKeeper } from '@/gateway/hold/hold-keeper'
import { createKeyPermissions } from '@/gateway/hold/key-permissions'
import { createSettler, type Settler } from '@/gateway/hold/settler'
import { type ActiveStreams, createActiveStreams } from '@/gateway/relay/active-streams'
import { createDrainSlots } from '@/gateway/relay/drain'
import { createSignatureStore } from '@/gateway/signatures/signature-store'
import { createUnpaid } from '@/http/unpaid'
import { createSweeper } from '@/ledger/holds/sweeper'
import type { Ledger } from '@/ledger/ledger'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createStoreWatch, type StoreWatch } from '@/ledger/store-watch'
import { systemClock } from '@/lib/clock'
import { type CrashPoint, createCrashPoint } from '@/lib/crash-point'
import { randomId } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import type { BackgroundWorker } from '@/lib/worker-loop'
import { createPrometheusMetrics, type PrometheusMetrics } from '@/metrics/prometheus'
import { createHealthExchange, healthScope } from '@/routing/health/health-exchange'
import type { RoutingEvent } from '@/routing/journey/routing-events'
import { createRouter, type Router } from '@/routing/router'
import { createFeedback } from '@/usage/feedback'
import { createFlusher, type Flusher } from '@/usage/flusher'
import { createReports } from '@/usage/reports'
import { createTierObserver, type TierObserver } from '@/usage/tier-observer'
import { assembleDashboard } from './dashboard'
import { createLedgerWatch } from './ledger-watch'
import { readinessChecks } from './readiness'
import { createStallReports } from './stall-reports'
import { assembleTopUps, type TopUps } from './top-ups'

/** What the routes need, and of the parts among it the side that only a start, a stop and the metrics see. */
type GatewayDeps = AppDeps & {
  settler: Settler
  keeper: HoldKeeper
  streams: ActiveStreams
  observer: TierObserver
}

/** One running gateway without its port. */
export type Gateway = {
  app: ReturnType<typeof buildApp>
  deps: GatewayDeps
  database: Database
  /** From now on nothing new is taken, and readiness says so. */
  drain(): void
  /**
   * Waits up to `timeoutMs` for open answers, ends the rest in their own format, and puts the books away: settlements
   * acknowledged, workers stopped, connections closed. Returns how many settlements were left unacknowledged.
   */
  stop(timeoutMs: number): Promise<number>
}

type ComposeOptions = {
  config: Config
  catalog: Catalog
  redisUrl: string
  databaseUrl: string
  logger: Logger
  /** Whether the books are checked on their own. False only for tests whose stores do not belong together. */
  watchesLedger?: boolean
}

/** How long a start waits for the ledger's store. */
const REDIS_START_TIMEOUT_MS = 10_000
/** What settlements get to be acknowledged, beyond the time for open answers. */
const SETTLE_TIMEOUT_MS = 5_000
/** Background work may wait longer for the store than a client may. */
const WORKER_COMMAND_TIMEOUT_MS = 5_000
const IDLE_POLL_MS = 20
/** For what people look up in the dashboard. */
const READING_POOL = { maxConnections: 4, statementTimeoutMs: 8_000, applicationName: 'dashboard' }
const READING_CLOSE_SECONDS = 1

/** Builds everything and starts the workers. Rejects where the ledger's store cannot be reached. */
export async function compose(options: ComposeOptions): Promise<Gateway> {
  const { config, catalog, redisUrl, databaseUrl, logger } = options
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: config.redisCommandTimeoutMs, name: 'gateway' })
  const workerRedis = connectRedis(redisUrl, { logger, commandTimeoutMs: WORKER_COMMAND_TIMEOUT_MS, name: 'worker' })
  await Promise.all([waitForRedis(redis, REDIS_START_TIMEOUT_MS), waitForRedis(workerRedis, REDIS_START_TIMEOUT_MS)])
  const database = connectDatabase(databaseUrl, { maxConnections: config.databasePoolSize })
  const reading = connectDatabase(databaseUrl, READING_POOL)
  const { ledger, history } = assembleLedger({ redis, database, defaultLimits: catalog.limits, logger })
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1, applicationName: 'flusher' })
  const crashPoint = createCrashPoint(config.crashAt)
  const flusher = createFlusher({
    redis: workerRedis,
    connect,
    logger,
    claimIdleMs: config.recordClaimMs,
    sharedBy: config.processes,
    afterCommit: async (records) => {
      if (records.length > 0) crashPoint('booked')
    },
  })
  const stalls = createStallReports(logger)
  const metrics = createPrometheusMetrics({ catalog, process: processLabel(config), onStall: stalls.onStall })
  const onExpired = (count: number) => metrics.flagged('expired', count)
  const topUps = assembleTopUps({
    ...{ config, database, ledger, clock: systemClock, logger },
    onDeposit: metrics.depositEvent,
  })
  const storeWatch = createStoreWatch({ redis, logger, fullShare: config.redisFullPercent / 100 })
  const workers: BackgroundWorker[] = [
    storeWatch,
    flusher,
    createSweeper({ ledger, logger, onExpired }),
    createOutboxWorker(database, ledger, logger),
    topUps.expiry,
  ]
  const watch = createLedgerWatch({ redis: workerRedis, database, history, logger, onReport: metrics.drift })
  if (options.watchesLedger ?? true) workers.push(watch)
  let isDraining = false
  const parts = {
    config,
    catalog,
    redis,
    database,
    reading,
    ledger,
    topUps,
    flusher,
    storeWatch,
    crashPoint,
    metrics,
    logger,
  }
  const deps = assemble({ ...parts, isDraining: () => isDraining })
  watchState(deps, flusher, storeWatch)
  ledger.onStoreReturn(deps.settler.storeReturned)
  ledger.onRecord(flusher.expect)
  for (const worker of [...workers, deps.keeper, deps.router, deps.observer]) worker.start()
  const app = buildApp(deps)
  stalls.know(app.routes)
  return {
    app,
    deps,
    database,
    drain() {
      isDraining = true
    },
    async stop(timeoutMs) {
      isDraining = true
      deps.dashboard.liveAccounts.stop()
      await finishAnswers(deps, timeoutMs)
      const left = await deps.settler.drain(SETTLE_TIMEOUT_MS)
      await deps.keeper.stop()
      await Promise.all([deps.router.stop(), deps.observer.stop()])
      deps.metrics.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
      redis.disconnect()
      workerRedis.disconnect()
      await Promise.all([database.close(), reading.close(READING_CLOSE_SECONDS)])
      return left
    },
  }
}

type Parts = {
  config: Config
  catalog: Catalog
  redis: RedisClient
  database: Database
  reading: Database
  ledger: Ledger
  topUps: TopUps
  flusher: Flusher
  storeWatch: StoreWatch
  crashPoint: CrashPoint
  metrics: PrometheusMetrics
  logger: Logger
  isDraining(): boolean
}

function assemble(parts: Parts): GatewayDeps {
  const { config, catalog, redis, database, ledger, topUps, flusher, crashPoint, metrics, logger } = parts
  const router = createSharedRouter(catalog, redis, logger, metrics)
  return {
    catalog,
    formats: formatsWithMessages(config.maxChatMessages),
    ledger,
    settler: createSettler(ledger, systemClock, logger, metrics),
    keeper: createHoldKeeper(ledger, systemClock, logger, config.holdTtlMs, metrics),
    holdTtlMs: config.holdTtlMs,
    crashPoint,
    router,
    streams: createActiveStreams(),
    drains: createDrainSlots(),
    permissions: createKeyPermissions(),
    signatures: createSignatureStore({
      set: (key, value, ttlSeconds) => redis.set(key, value, 'EX', ttlSeconds),
      get: (key) => redis.get(key),
    }),
    metrics,
    clock: systemClock,
    logger,
    identify: createIdentify(database, ledger, catalog.service),
    unpaid: createUnpaid({
      ledger,
      clock: systemClock,
      requestsPerMinute: catalog.limits.requestsPerMinute,
      trustedProxyHops: config.signIn.trustedProxyHops,
    }),
    reports: createReports(database, ledger),
    feedback: createFeedback(database),
    observer: createTierObserver({
      shareOf: (tier) => catalog.tiers.get(tier)?.observe ?? 0,
      ...{ database, clock: systemClock, logger },
    }),
    maxBodyBytes: config.maxBodyBytes,
    maxJsonDepth: config.maxJsonDepth,
    publicUrl: config.publicUrl,
    metricsAccess: config.metricsAccess,
    storeWatch: parts.storeWatch,
    readiness: readinessChecks(redis, parts.storeWatch, database, flusher),
    isDraining: parts.isDraining,
    dashboard: assembleDashboard({ ...parts, router, routingCounts: metrics.routing }),
    depositDesk: topUps.depositDesk,
    sandbox: topUps.sandbox,
  }
}

/** Processes that share a port also share the address that is scraped: their metrics have to be told apart. */
function processLabel(config: Config): string | undefined {
  return config.processes > 1 ? String(process.pid) : undefined
}

/** Where the gauges of one process look. */
function watchState(deps: GatewayDeps, flusher: Flusher, storeWatch: StoreWatch): void {
  const { metrics, settler, keeper, streams, router } = deps
  metrics.watch({
    openStreams: streams.count,
    openHolds: keeper.openCount,
    unacknowledgedSettlements: settler.pendingCount,
    flusher: flusher.status,
    store: storeWatch.state,
    routing: router.status,
  })
}

/** A router that learns from the other gateways, and whose conversations may reach any of them. */
function createSharedRouter(catalog: Catalog, redis: RedisClient, logger: Logger, metrics: PrometheusMetrics): Router {
  return createRouter({
    catalog,
    clock: systemClock,
    exchange: createHealthExchange({
      run: (script, key, args) => redis.eval(script, 1, key, ...args),
      gatewayId: randomId('gw'),
      scope: healthScope(catalog),
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
}

/** Says what an operator has to know of the providers; the rest is only counted. */
function logRoutingEvent(logger: Logger, event: RoutingEvent): void {
  if (event.type === 'key-out') logger.error('provider_key_refused', event)
  else if (event.type === 'circuit') logger.warn('circuit_changed', event)
}

/** Lets open answers finish; at the deadline streams end with an error in their own format, so that no client waits for ever. */
async function finishAnswers(deps: GatewayDeps, timeoutMs: number): Promise<void> {
  const deadlineMs = deps.clock.monotonic() + timeoutMs
  while (deps.keeper.openCount() > 0 && deps.clock.monotonic() < deadlineMs) await Bun.sleep(IDLE_POLL_MS)
  deps.streams.interruptAll()
}
