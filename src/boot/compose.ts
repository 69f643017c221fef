/** Wires the modules of one server process together over its stores, and runs the background workers. */
import { createLedgerHistory } from '@/accounts/history'
import { createIdentify } from '@/accounts/identify'
import { createOutboxWorker } from '@/accounts/outbox'
import { buildApp } from '@/app'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config'
import { connectDatabase, type Database } from '@/db/client'
import { FORMATS } from '@/formats/index'
import { createActiveStreams } from '@/gateway/active-streams'
import { createDrainSlots } from '@/gateway/drain'
import { createHoldKeeper } from '@/gateway/hold-keeper'
import { createSettler } from '@/gateway/settler'
import { createSignatureStore } from '@/gateway/signature-store'
import type { HttpDeps } from '@/http/deps'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/connection'
import { createLedger, type Ledger } from '@/ledger/ledger'
import { createSweeper } from '@/ledger/sweeper'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { createKeyPool } from '@/routing/key-pool'
import { createFlusher, type Flusher } from '@/usage/flusher'
import { createReports } from '@/usage/reports'
import { readinessChecks } from './readiness'

/** One running gateway without its port. */
export type Gateway = {
  app: ReturnType<typeof buildApp>
  deps: HttpDeps
  database: Database
  /** From now on nothing new is taken, and readiness says so. */
  drain(): void
  /**
   * Waits up to `timeoutMs` for open answers, ends the rest in their own format, and puts the books away: settlements
   * acknowledged, workers stopped, connections closed. Returns how many settlements were left unacknowledged.
   */
  stop(timeoutMs: number): Promise<number>
}

export type ComposeOptions = { config: Config; catalog: Catalog; redisUrl: string; databaseUrl: string; logger: Logger }

/** How long a start waits for the ledger's store. */
const REDIS_START_TIMEOUT_MS = 10_000
/** What settlements get to be acknowledged, beyond the time for open answers. */
const SETTLE_TIMEOUT_MS = 5_000
/** Background work may wait longer for the store than a client may. */
const WORKER_COMMAND_TIMEOUT_MS = 5_000
const IDLE_POLL_MS = 20

/** Builds everything and starts the workers. Rejects where the ledger's store cannot be reached. */
export async function compose(options: ComposeOptions): Promise<Gateway> {
  const { config, catalog, redisUrl, databaseUrl, logger } = options
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: config.redisCommandTimeoutMs, name: 'gateway' })
  const workerRedis = connectRedis(redisUrl, { logger, commandTimeoutMs: WORKER_COMMAND_TIMEOUT_MS, name: 'worker' })
  await Promise.all([waitForRedis(redis, REDIS_START_TIMEOUT_MS), waitForRedis(workerRedis, REDIS_START_TIMEOUT_MS)])
  const database = connectDatabase(databaseUrl, { maxConnections: config.databasePoolSize })
  const ledger = createLedger({ redis, history: createLedgerHistory(database), defaultLimits: catalog.limits, logger })
  const connect = () => connectDatabase(databaseUrl, { maxConnections: 1, applicationName: 'flusher' })
  const flusher = createFlusher({ redis: workerRedis, connect, logger })
  const workers = [flusher, createSweeper({ ledger, logger }), createOutboxWorker(database, ledger, logger)]
  let isDraining = false
  const deps = assemble({ config, catalog, redis, database, ledger, flusher, logger, isDraining: () => isDraining })
  for (const worker of [...workers, deps.keeper]) worker.start()
  return {
    app: buildApp(deps),
    deps,
    database,
    drain() {
      isDraining = true
    },
    async stop(timeoutMs) {
      isDraining = true
      await finishAnswers(deps, timeoutMs)
      const left = await deps.settler.drain(SETTLE_TIMEOUT_MS)
      deps.keeper.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
      redis.disconnect()
      workerRedis.disconnect()
      await database.close()
      return left
    },
  }
}

type Parts = {
  config: Config
  catalog: Catalog
  redis: RedisClient
  database: Database
  ledger: Ledger
  flusher: Flusher
  logger: Logger
  isDraining(): boolean
}

function assemble(parts: Parts): HttpDeps {
  const { config, catalog, redis, database, ledger, flusher, logger, isDraining } = parts
  return {
    catalog,
    formats: FORMATS,
    ledger,
    settler: createSettler(ledger, logger),
    keeper: createHoldKeeper(ledger, systemClock, logger),
    holdTtlMs: config.holdTtlMs,
    keyPool: createKeyPool(),
    streams: createActiveStreams(),
    drains: createDrainSlots(),
    signatures: createSignatureStore({
      set: (key, value, ttlSeconds) => redis.set(key, value, 'EX', ttlSeconds),
      get: (key) => redis.get(key),
    }),
    clock: systemClock,
    logger,
    identify: createIdentify(database, ledger, catalog.service),
    reports: createReports(database, ledger),
    maxBodyBytes: config.maxBodyBytes,
    maxJsonDepth: config.maxJsonDepth,
    publicUrl: config.publicUrl,
    readiness: readinessChecks(redis, database, flusher),
    isDraining,
  }
}

/** Lets open answers finish; at the deadline streams end with an error in their own format, so that no client waits for ever. */
async function finishAnswers(deps: HttpDeps, timeoutMs: number): Promise<void> {
  const deadlineMs = deps.clock.monotonic() + timeoutMs
  while (deps.keeper.openCount() > 0 && deps.clock.monotonic() < deadlineMs) await Bun.sleep(IDLE_POLL_MS)
  deps.streams.interruptAll()
}
