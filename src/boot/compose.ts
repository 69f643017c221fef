import { assembleLedger } from '@/accounts/assemble-ledger'
import { createIdentify } from '@/accounts/identify'
import { createSeesBalance } from '@/accounts/members/sees-balance'
import { createOutboxWorker } from '@/accounts/outbox'
import { type AppDeps, buildApp } from '@/app'
import { createLiveCatalog, type LiveCatalog, liveLimits } from '@/catalog/reload/live-catalog'
import type { ReloadParticipant } from '@/catalog/reload/participant'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { readOrCreateSecret } from '@/console/auth/secret'
import type { Database } from '@/db/client'
import { formatsWithMessages } from '@/formats/index'
import { createDrainSlots } from '@/gateway/attempt/drain-slots'
import { createAnswerRoom } from '@/gateway/embed/answer-room'
import { createHoldKeeper, type HoldKeeper } from '@/gateway/hold/hold-keeper'
import { createKeyPermissions } from '@/gateway/hold/key-permissions'
import { createSettlementJournal, type OpenJournal } from '@/gateway/hold/settlement-journal'
import { createSettler, type Settler } from '@/gateway/hold/settler'
import { type ActiveStreams, createActiveStreams } from '@/gateway/relay/active-streams'
import { LATE_AFTER_MS } from '@/gateway/relay/late-stream'
import { FINISH_UNSEEN_MS } from '@/http/idempotency/operation'
import { createEndUserHash } from '@/http/labels/end-users'
import { createRequestLog, type RequestLog } from '@/http/request-log/request-log'
import { createShares } from '@/http/share/share'
import { createUnpaid } from '@/http/unpaid'
import { createSweeper } from '@/ledger/holds/sweeper'
import type { Ledger } from '@/ledger/ledger'
import type { RedisClient } from '@/ledger/store/connection'
import { watchLoad } from '@/ledger/store-calls'
import { createStoreWatch, type StoreWatch } from '@/ledger/store-watch'
import type { SiteBrand } from '@/lib/brand'
import { systemClock } from '@/lib/clock'
import { type CrashPoint, createCrashPoint } from '@/lib/crash-point'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import type { BackgroundWorker } from '@/lib/worker-loop'
import { tellEnded } from '@/metrics/ended-answer'
import { createPrometheusMetrics, type PrometheusMetrics } from '@/metrics/prometheus'
import type { Tracing } from '@/telemetry/tracing'
import { warmCredentials } from '@/upstream/warm-credentials'
import { createFailedRequests, type FailedRequests } from '@/usage/failures/failed-requests'
import { createFlusher, type Flusher } from '@/usage/flusher'
import { createTierObserver, type TierObserver } from '@/usage/tier-observer'
import { assembleBatches, batchWorkers } from './batches'
import { brandOf } from './brand/site-brand'
import { assembleDashboard } from './dashboard'
import { createLedgerWatch } from './ledger-watch'
import { assembleMails, type Mails } from './mails'
import { neededRights } from './readiness/needed-rights'
import { readinessChecks } from './readiness/readiness'
import { assembleReloads, type Reloading } from './reload/assemble'
import { createSharedRouter } from './shared-router'
import { createStallReports } from './stall-reports'
import { assembleStoredResponses, keepingFor } from './stored-responses'
import { createKeptSignatures } from './stores/kept-signatures'
import { connectClients } from './stores/redis-clients'
import { createStoredClaims } from './stores/stored-claims'
import { createWatchedPools } from './stores/watched-pools'
import { traceReserves, traceSettlements } from './telemetry/trace-ledger'
import { assembleTopUps, type TopUps } from './top-ups'
import { assembleUsageOfKeys } from './usage-report'
import { watchState } from './watch-state'

type GatewayDeps = AppDeps & {
  settler: Settler
  keeper: HoldKeeper
  streams: ActiveStreams
  observer: TierObserver
  failures: FailedRequests
  requestLog: RequestLog
  /** Undefined if the catalogue cannot be reloaded. */
  reloads: ReloadParticipant | undefined
}

export type Gateway = {
  app: ReturnType<typeof buildApp>
  deps: GatewayDeps
  database: Database
  /** Makes readiness report that this process is stopping. Requests are still served. */
  leave(): void
  /**
   * Stops accepting requests, and waits up to `timeoutMs` for open answers. Answers still open then end with an error in their format. Then
   * waits for settlements, stops workers and closes connections. Returns the number of settlements that were not acknowledged.
   */
  stop(timeoutMs: number, requestsUnderWay?: () => number): Promise<number>
}

type ComposeOptions = {
  config: Config
  catalog: Catalog
  redisUrl: string
  databaseUrl: string
  logger: Logger
  exposition?: (() => Promise<string>) | undefined
  tracing?: Tracing | undefined
  /** Whether the ledger is checked regularly. False only in tests whose Redis and Postgres hold unrelated data. */
  watchesLedger?: boolean
  /** How the catalogue is reloaded. Missing only in tests. */
  reloading?: Reloading
  /** The folder of the settlement journal. Undefined: no journal. */
  journalFolder?: string | undefined
}

/** At shutdown, the longest wait for interrupted streams to end. The last settlements then get the same time. */
const SETTLE_TIMEOUT_MS = 5_000
const IDLE_POLL_MS = 20
/** The Postgres pool for reads of the dashboard's pages. */
const READING_POOL = { maxConnections: 4, statementTimeoutMs: 8_000 }
const READING_CLOSE_SECONDS = 1

/** Connects the modules of one server process and starts its background workers. Rejects if Redis is unreachable. */
export async function compose(options: ComposeOptions): Promise<Gateway> {
  const { config, redisUrl, databaseUrl, logger, journalFolder: folder } = options
  const catalog = createLiveCatalog(options.catalog)
  const brand = await brandOf(config.brand)
  const stalls = createStallReports(logger)
  const metrics = createPrometheusMetrics({ catalog, stalls })
  const { called: onCall } = metrics.stores
  const [redis, workerRedis] = await connectClients(redisUrl, config, logger)
  const pools = createWatchedPools(databaseUrl, metrics.stores.queried)
  const database = pools.open('gateway', { maxConnections: config.databasePoolSize })
  const reading = pools.open('dashboard', READING_POOL)
  const { ledger, history } = assembleLedger({ redis, database, defaultLimits: liveLimits(catalog), logger, onCall })
  const crashPoint = createCrashPoint(config.crashAt)
  const clock = systemClock
  const journal = folder === undefined ? undefined : createSettlementJournal({ folder, ledger, clock, logger })
  const flusher = createFlusher({
    redis: workerRedis,
    connect: () => pools.open('flusher', { maxConnections: 1 }),
    ...{ logger, onCall, claimIdleMs: config.recordClaimMs },
    afterCommit: async (records) => {
      journal?.booked(records)
      if (records.length > 0) crashPoint('booked')
    },
  })
  const topUps = assembleTopUps({
    ...{ config, service: catalog.current.service, database, ledger, clock: systemClock, logger },
    onDeposit: metrics.depositEvent,
  })
  const mails = assembleMails({
    ...{ config, database, service: catalog.current.service, logger, onOutcome: metrics.mail },
    lagSeconds: () => flusher.status().lagSeconds,
  })
  const storeWatch = createStoreWatch({
    ...{ redis, logger, fullShare: config.redisFullPercent / 100 },
    rights: neededRights(config),
  })
  const workers: BackgroundWorker[] = [
    storeWatch,
    flusher,
    createSweeper({ ledger, logger, onExpired: (count) => metrics.flagged('expired', count) }),
    createOutboxWorker(database, ledger, logger),
    ...[topUps.expiry, mails.worker, ...[mails.alerts, topUps.autoTopUp].filter((one) => one !== undefined)],
  ]
  const watch = createLedgerWatch({ redis: workerRedis, database, history, logger, onReport: metrics.drift })
  if (options.watchesLedger ?? true) workers.push(watch)
  const ending = { isLeaving: false, isDraining: false }
  const parts = {
    ...{ config, brand, catalog, reloading: options.reloading, redis, workerRedis, database, reading, ledger },
    ...{ topUps, mails, flusher, journal, storeWatch, crashPoint, logger, tracing: options.tracing },
    ...{ metrics, exposition: options.exposition ?? metrics.exposition },
  }
  const deps = assemble({ ...parts, isLeaving: () => ending.isLeaving, isDraining: () => ending.isDraining })
  watchState(deps, parts, {
    redis: { gateway: watchLoad(redis), worker: watchLoad(workerRedis) },
    pools: pools.readings,
  })
  ledger.onStoreReturn(deps.settler.storeReturned)
  ledger.onRecord((shard) => flusher.expect(shard))
  if (deps.reloads) workers.push(deps.reloads)
  workers.push(...batchWorkers(deps, { database }))
  if (journal) deps.settler.resend(await journal.takeOver())
  journal?.start()
  for (const worker of [...workers, deps.keeper, deps.router, deps.observer, deps.failures, deps.storedResponses])
    worker.start()
  warmCredentials(catalog, logger)
  const app = buildApp(deps)
  stalls.know(app.routes)
  return {
    app,
    deps,
    database,
    leave() {
      ending.isLeaving = true
    },
    async stop(timeoutMs, requestsUnderWay = () => 0) {
      ending.isLeaving = true
      deps.dashboard.liveAccounts.stop()
      await finishAnswers(deps, timeoutMs, requestsUnderWay)
      ending.isDraining = true
      // Each answer ends with an error of its format, so that no client waits for ever.
      await withDeadline(deps.streams.interruptAll(), SETTLE_TIMEOUT_MS, () => undefined)
      const left = await deps.settler.drain(SETTLE_TIMEOUT_MS)
      await deps.keeper.stop()
      await Promise.all([deps.router.stop(), deps.observer.stop(), deps.failures.stop(), deps.storedResponses.stop()])
      deps.metrics.stop()
      deps.requestLog.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
      // Stopped after the flusher, because the journal waits for records that the flusher writes.
      await journal?.stop()
      redis.disconnect()
      workerRedis.disconnect()
      await Promise.all([database.close(), reading.close(READING_CLOSE_SECONDS)])
      return left
    },
  }
}

type Parts = {
  config: Config
  brand: SiteBrand
  catalog: LiveCatalog
  reloading: Reloading | undefined
  redis: RedisClient
  workerRedis: RedisClient
  database: Database
  reading: Database
  ledger: Ledger
  topUps: TopUps
  mails: Mails
  flusher: Flusher
  journal: OpenJournal | undefined
  storeWatch: StoreWatch
  crashPoint: CrashPoint
  metrics: PrometheusMetrics
  exposition: () => Promise<string>
  logger: Logger
  tracing: Tracing | undefined
  isLeaving(): boolean
  isDraining(): boolean
}

function assemble(parts: Parts): GatewayDeps {
  const { config, catalog, redis, database, ledger, topUps, flusher, crashPoint, metrics, logger, tracing } = parts
  const router = createSharedRouter(catalog, redis, logger, metrics)
  const storedResponses = assembleStoredResponses(parts)
  const { maxBodyBytes, maxJsonDepth, publicUrl, metricsAccess } = config
  const { trustedProxyHops, secrets } = config.signIn
  const seesBalance = createSeesBalance(database)
  const unpaid = createUnpaid({
    ...{ ledger, seesBalance, clock: systemClock, limits: liveLimits(catalog), trustedProxyHops },
  })
  const idempotency = config.hasIdempotencyKeys
    ? { ...createStoredClaims(parts), finishUnseenMs: FINISH_UNSEEN_MS }
    : undefined
  const batches = assembleBatches({ config, database })
  const dashboard = assembleDashboard({
    ...{ ...parts, batches: batches.batches, router, routingCounts: metrics.routing, storedResponses },
    keepResponsesFor: keepingFor(database, storedResponses),
    idempotency,
  })
  return {
    catalog,
    formats: formatsWithMessages(config.maxChatMessages),
    ledger: traceReserves(ledger, tracing),
    settler: traceSettlements(createSettler(ledger, systemClock, logger, metrics, parts.journal), tracing),
    keeper: createHoldKeeper(ledger, systemClock, logger, config.holdTtlMs, metrics),
    ...{ holdTtlMs: config.holdTtlMs, seesBalance },
    crashPoint,
    router,
    streams: createActiveStreams(),
    drains: createDrainSlots(),
    answerRoom: createAnswerRoom(),
    lateAfterMs: LATE_AFTER_MS,
    permissions: createKeyPermissions(),
    signatures: createKeptSignatures(parts),
    metrics,
    tracing,
    onEnded: tellEnded(metrics, logger, tracing),
    clock: systemClock,
    logger,
    identify: createIdentify(database, ledger, catalog.current.service),
    unpaid,
    openShare: createShares(unpaid),
    requestLog: createRequestLog({ logger, clock: systemClock, trustedProxyHops }),
    idempotency,
    ...assembleUsageOfKeys({ ...parts, views: dashboard.usage }),
    managementKeys: dashboard.managementKeys,
    hashEndUser: createEndUserHash(secrets?.[0], () => readOrCreateSecret(database)),
    storedResponses,
    ...batches,
    observer: createTierObserver({
      shareOf: (tier) => catalog.current.tiers.get(tier)?.observe ?? 0,
      ...{ database, clock: systemClock, logger },
    }),
    failures: createFailedRequests({ database, clock: systemClock, logger }),
    ...{ trustedProxyHops, maxBodyBytes, maxJsonDepth, publicUrl, metricsAccess, brand: parts.brand },
    exposition: parts.exposition,
    storeWatch: parts.storeWatch,
    readiness: readinessChecks(redis, parts.storeWatch, database, flusher),
    ...{ isLeaving: parts.isLeaving, isDraining: parts.isDraining, dashboard },
    depositDesk: topUps.depositDesk,
    sandbox: topUps.sandbox,
    reloads: parts.reloading && assembleReloads(parts, parts.reloading),
  }
}

/** Waits for open answers, and for requests that arrived and have no hold yet. */
async function finishAnswers(deps: GatewayDeps, timeoutMs: number, requestsUnderWay: () => number): Promise<void> {
  const deadlineMs = deps.clock.monotonic() + timeoutMs
  const isBusy = () => deps.keeper.openCount() > 0 || requestsUnderWay() > 0
  while (isBusy() && deps.clock.monotonic() < deadlineMs) await Bun.sleep(IDLE_POLL_MS)
}
