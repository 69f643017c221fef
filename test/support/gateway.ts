/** A whole gateway for a test: real stores, a scripted provider, one funded account, a port of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createAccounts } from '@/accounts/accounts'
import { type ApiKeys, createApiKeys, type NewKey } from '@/accounts/api-keys'
import { createCredits } from '@/accounts/credits'
import { compose, type Gateway } from '@/boot/compose'
import { serve } from '@/boot/serve'
import { loadTelemetry } from '@/boot/telemetry/load'
import { traceRequests } from '@/boot/telemetry/trace-requests'
import { loadCatalog } from '@/catalog/catalog'
import { createCatalogFile } from '@/catalog/reload/catalog-file'
import type { Catalog } from '@/catalog/types'
import { type Config, loadConfig } from '@/config/config'
import type { AccountBalance } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { nano, parseUsd } from '@/lib/money'
import { asGateway, freshDatabase, redisUrl, startRedis } from './stores'
import { until } from './until'
import { type Respond, type ScriptedUpstream, startUpstream } from './upstream'

export type Customer = { accountId: string; keyId: string; key: string }

export interface TestGateway {
  /** Base address without a trailing slash. */
  readonly url: string
  readonly gateway: Gateway
  readonly upstream: ScriptedUpstream
  /** Where its stores are and what it sells, for further gateways beside it. */
  readonly stores: StoreAddresses
  readonly catalogText: string
  readonly apiKeys: ApiKeys
  /** The file that it reads again; only of a gateway that reloads. */
  readonly catalogPath: string | undefined
  /** Every log line written so far. */
  readonly logLines: string[]
  /** A new account with `usd` of credit and one key. */
  customer(usd: string, key?: Partial<NewKey>): Promise<Customer>
  balance(accountId: string): Promise<AccountBalance>
  /** A second gateway on the same stores, upstream and catalogue. */
  twin(): Promise<TestGateway>
  stop(): Promise<void>
}

export type GatewayOptions = {
  respond: Respond
  /** Changes the catalogue file before it is loaded. */
  catalog?: (file: CatalogFile) => void
  /** Environment variables beyond the defaults. */
  environment?: Record<string, string>
  redisUrl?: string
  databaseUrl?: string
  /** Whether its catalogue may be read again. Only on a Redis of its own: gateways that share one reload together. */
  reloads?: boolean
  /** Checks the books on its own. Only for a gateway that shares its stores with nobody. */
  watchesLedger?: boolean
}

/** The catalogue of tests: cheap to reckon with (1 USD and 2 USD per 1,000,000 tokens = 1,000 and 2,000 nano-USD a token). */
export type CatalogFile = {
  service: string
  providers: Record<string, Record<string, unknown>>
  models: Record<string, unknown>[]
  tiers: Record<string, unknown>[]
  limits: { requestsPerMinute: number; tokensPerMinute: number; concurrency: number }
}

/** Starts a gateway. Stop it in `afterAll`. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const upstream = startUpstream(options.respond)
  const file = catalogFile(upstream.url)
  options.catalog?.(file)
  const environment = {
    LOG_LEVEL: 'debug',
    HOST: '127.0.0.1',
    PORT: '0',
    REDIS_COMMAND_TIMEOUT_MS: '10000',
    ...options.environment,
  }
  const loadedConfig = loadConfig(environment, { isSimulated: true })
  assert(loadedConfig.kind === 'loaded', 'the test configuration is sound')
  const loaded = loadCatalog(JSON.stringify(file), environment)
  assert(loaded.kind === 'loaded', `the test catalogue is sound: ${JSON.stringify(loaded)}`)
  const databaseUrl = options.databaseUrl ?? (await freshDatabase())
  const stores = { redisUrl: options.redisUrl ?? (await redisFor(databaseUrl)), databaseUrl }
  return launch({
    config: loadedConfig.config,
    environment,
    reloads: options.reloads ?? false,
    catalog: loaded.catalog,
    catalogText: JSON.stringify(file),
    stores,
    upstream,
    watchesLedger: options.watchesLedger ?? false,
  })
}

/** The gateways that use the shared Redis, all on one database: they would write another database's usage records to their own. */
let sharing: { databaseUrl: string; redisUrl: string; gateways: number } | undefined

/** The shared Redis, or one of its own for a gateway on another database than those that use the shared one now. */
async function redisFor(databaseUrl: string): Promise<string> {
  const shared = await redisUrl()
  sharing ??= { databaseUrl, redisUrl: shared, gateways: 0 }
  return sharing.databaseUrl === databaseUrl ? shared : (await startRedis()).url
}

/** Notes that a gateway uses a Redis. Returns the function to call when the gateway has stopped. */
function noteUse(url: string): () => void {
  const use = sharing?.redisUrl === url ? sharing : undefined
  if (use) use.gateways += 1
  return () => {
    if (use && --use.gateways === 0 && sharing === use) sharing = undefined
  }
}

type StoreAddresses = { redisUrl: string; databaseUrl: string }

type Launch = {
  config: Config
  environment: Record<string, string>
  reloads: boolean
  catalog: Catalog
  catalogText: string
  stores: StoreAddresses
  upstream: ScriptedUpstream
  watchesLedger: boolean
}

async function launch(options: Launch): Promise<TestGateway> {
  const { config, catalog, catalogText, stores, upstream, watchesLedger } = options
  const logLines: string[] = []
  const logger = createLogger({ level: config.logLevel, write: (line) => logLines.push(line), service: 'svc' })
  const addresses = { redisUrl: asGateway(stores.redisUrl), databaseUrl: asGateway(stores.databaseUrl) }
  const catalogPath = options.reloads ? await writeCatalog(catalogText) : undefined
  const reloading = catalogPath === undefined ? {} : { reloading: reloadingFrom(catalogPath, options) }
  const telemetry = await loadTelemetry(config, catalog, logger)
  const own = { logger: telemetry?.logger ?? logger, tracing: telemetry?.tracing }
  const journalFolder = await mkdtemp(join(tmpdir(), 'test-settlements-'))
  const gateway = await compose({ config, catalog, ...addresses, ...own, journalFolder, watchesLedger, ...reloading })
  telemetry?.include(gateway.deps.metrics)
  const server = serve(config, gateway.app, {
    trace: telemetry && traceRequests(telemetry.tracing, gateway.app.routes),
  })
  const { ledger } = gateway.deps
  const accounts = createAccounts(gateway.database, ledger)
  const apiKeys = createApiKeys(gateway.database, ledger, catalog.service)
  const credits = createCredits(gateway.database, ledger)
  const twins: TestGateway[] = []
  const unuse = noteUse(stores.redisUrl)
  return {
    url: `http://127.0.0.1:${server.port}`,
    gateway,
    upstream,
    stores,
    catalogText,
    catalogPath,
    apiKeys,
    logLines,
    async customer(usd, key = {}) {
      const account = await accounts.create({ email: `${crypto.randomUUID()}@example.test`, name: 'Test Customer' })
      assert(account.kind === 'created', 'a new address is free')
      const { accountId } = account
      const amount = nano(parseUsd(usd) ?? 0)
      if (amount !== 0) await credits.addCredit({ accountId, amount, reference: 'test' })
      const created = await apiKeys.create({ name: 'test', ...key, accountId })
      assert(created.kind === 'created', 'the account exists')
      return { accountId, keyId: created.keyId, key: created.key }
    },
    async balance(accountId) {
      // A second after its answer's end a busy machine may still be about to settle it.
      await until(() => gateway.deps.settler.pendingCount() === 0, 'settlements to be acknowledged')
      const balance = await ledger.readBalance(accountId)
      assert(balance, 'the account exists')
      return balance
    },
    async twin() {
      const twin = await launch(options)
      twins.push(twin)
      return twin
    },
    async stop() {
      for (const twin of twins) await twin.stop()
      await gateway.stop(0)
      await server.stop(true)
      await telemetry?.stop(1_000)
      unuse()
      upstream.stop()
      await rm(journalFolder, { recursive: true, force: true })
      if (catalogPath !== undefined) await rm(dirname(catalogPath), { recursive: true })
    },
  }
}

async function writeCatalog(text: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'test-catalog-')), 'catalog.json')
  await Bun.write(path, text)
  return path
}

function reloadingFrom(path: string, { environment, catalog: { service } }: Launch) {
  const file = createCatalogFile({ path, environment, service, sandboxBaseUrl: undefined })
  return { file, gateway: crypto.randomUUID(), learnSecrets: () => undefined }
}

function catalogFile(upstreamUrl: string): CatalogFile {
  return {
    service: 'svc',
    providers: {
      provider1: {
        format: 'chat-completions',
        baseUrl: `${upstreamUrl}/v1`,
        keys: ['sk-provider1-secret-canary'],
        timeouts: { connectMs: 2_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 60_000 },
        // The usual policy, but no test waits half a minute for a provider that has no more to say.
        onDisconnect: { policy: 'auto', maxSeconds: 1 },
      },
    },
    models: [
      {
        id: 'svc/alpha',
        name: 'Alpha',
        created: 1_760_000_000,
        ownedBy: 'provider1',
        targets: [{ provider: 'provider1', model: 'alpha-upstream' }],
        pricing: {
          inputPer1mTokens: 1,
          outputPer1mTokens: 2,
          cacheReadPer1mTokens: 0.1,
          cacheWritePer1mTokens: 1.25,
          cacheWrite1hPer1mTokens: 2,
        },
        contextLength: 256_000,
        maxOutputTokens: 32_768,
        capabilities: ['tools', 'images', 'reasoning', 'json-schema'],
      },
    ],
    tiers: [
      { id: 'auto-smart', name: 'Auto Smart', contextLength: 128_000, strategy: 'smart', candidates: ['svc/alpha'] },
    ],
    limits: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 },
  }
}
