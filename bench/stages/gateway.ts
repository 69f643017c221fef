/** The gateway that the stages belong to, in this process, and a ledger beside it whose records nobody carries away. */

import type { BenchStores } from '@bench/machine/stores'
import { catalogText } from '@bench/peers/gateway'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { compose, type Gateway } from '@/boot/compose'
import { loadCatalog } from '@/catalog/catalog'
import { type Config, loadConfig } from '@/config/config'
import type { Ledger } from '@/ledger/ledger'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { assert } from '@/lib/assert'
import { createLogWriter } from '@/lib/log-writer'
import { createLogger, type Logger } from '@/lib/logger'

export type OpenGateway = { gateway: Gateway; config: Config; quietLedger: Ledger; close(): Promise<void> }

/** A database of the same Redis that no flusher looks into. */
const QUIET_DATABASE = '/1'
const REDIS_TIMEOUT_MS = 10_000
const STOP_MS = 1_000

/** Builds it over the stores; what it logs goes to the file `log`. */
export async function openGateway(stores: BenchStores, upstreamPort: number, log: number): Promise<OpenGateway> {
  const loadedConfig = loadConfig({ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info' })
  assert(loadedConfig.kind === 'loaded', 'the configuration is sound')
  const { config } = loadedConfig
  const loaded = loadCatalog(catalogText(upstreamPort), {})
  assert(loaded.kind === 'loaded', 'the catalogue is sound')
  const { catalog } = loaded
  const logger = createLogger({ level: config.logLevel, write: createLogWriter(log).write, service: catalog.service })
  const { redisUrl, databaseUrl } = stores
  const gateway = await compose({ config, catalog, redisUrl, databaseUrl, logger })
  const quiet = await connectQuietly(redisUrl, logger)
  const { ledger } = assembleLedger({
    ...{ redis: quiet, logger },
    database: gateway.database,
    defaultLimits: catalog.limits,
  })
  return {
    ...{ gateway, config, quietLedger: ledger },
    async close() {
      quiet.disconnect()
      await gateway.stop(STOP_MS)
    },
  }
}

async function connectQuietly(redisUrl: string, logger: Logger) {
  const redis = connectRedis(redisUrl + QUIET_DATABASE, { logger, commandTimeoutMs: REDIS_TIMEOUT_MS, name: 'stages' })
  await waitForRedis(redis, REDIS_TIMEOUT_MS)
  return redis
}
