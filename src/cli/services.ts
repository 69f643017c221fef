import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Accounts, createAccounts } from '@/accounts/accounts'
import { type ApiKeys, createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { type ChangedBy, OPERATOR } from '@/accounts/audit'
import { type Credits, createCredits } from '@/accounts/credits'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { redisGatewayUrl } from '@/boot/embedded/redis-user'
import type { EmbeddedServer } from '@/boot/embedded/server'
import { preparePostgresRoles } from '@/boot/postgres-roles'
import { assembleTopUps, type TopUps } from '@/boot/top-ups'
import { loadCatalog } from '@/catalog/catalog'
import { liveLimits } from '@/catalog/reload/live-catalog'
import type { Catalog } from '@/catalog/types'
import { type Config, type Environment, loadConfig } from '@/config/config'
import { connectDatabase, type Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { migrate, SchemaError } from '@/db/migrate'
import type { Ledger } from '@/ledger/ledger'
import { findOtherLayout } from '@/ledger/other-layout'
import type { DefaultLimits, LedgerHistory } from '@/ledger/outcomes'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import { formatFaults } from '@/lib/fault'
import { randomId } from '@/lib/ids'
import { createLogger, type Logger } from '@/lib/logger'
import { fail } from './failure'

/** A command's environment, input and output: the process's, or a test's. */
export type Surroundings = {
  environment: Environment
  /** The terminal's width; undefined if the output is not a terminal. */
  columns: number | undefined
  /** Standard input; at a terminal, a line typed without being shown. */
  readSecret(): Promise<string>
  /** Writes the output. Resolves when it was read, so that the exit doesn't cut a long list. */
  answer(text: string): Promise<unknown>
  tell(line: string): void
}

export type Services = {
  config: Config
  database: Database
  /** Connections of the role that owns the tables, if DATABASE_MIGRATOR_URL names one; without statement timeout. */
  owner: Database
  redis: RedisClient
  history: LedgerHistory
  ledger: Ledger
  accounts: Accounts
  apiKeys: ApiKeys
  credits: Credits
  /** The catalogue. Throws if its file has a fault, so only commands that need it fail. */
  readonly catalog: Catalog
  /** Orders and payment methods. Throws if the catalogue file has a fault. */
  readonly topUps: Pick<TopUps, 'orders' | 'ordersDeps'>
  /** The catalogue's default limits. Throws if the catalogue file has a fault. */
  defaultLimits: DefaultLimits
  logger: Logger
  tell: Surroundings['tell']
  /** The operator and this run, for the audit log. */
  by: ChangedBy
}

const REDIS_WAIT_MS = 5_000
/** Longer than a gateway's timeout: only commands read whole shards. */
const REDIS_COMMAND_TIMEOUT_MS = 10_000
const HISTORY_TIMEOUT_MS = 60_000
const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')
/** A placeholder: commands use the catalogue only for service name, limits and prices, so provider keys don't matter. */
const ANY_UPSTREAM = 'http://localhost'

/** Opens the configured stores, or embedded ones (running, or started now). Runs `work`, then closes all. Throws a CommandFailure. */
export async function withServices<T>(
  { environment, tell }: Surroundings,
  { mayBeginEmpty }: { mayBeginEmpty: boolean },
  work: (services: Services) => Promise<T>,
): Promise<T> {
  // A command serves no requests, so the rules about offers to unknown callers don't apply.
  const result = loadConfig(environment, { isSimulated: true, isCommand: true })
  if (result.kind === 'faulty') return fail(formatFaults('The configuration has faults:', result.faults))
  const { config } = result
  const reading = await readCatalog(config, environment)
  const servers: EmbeddedServer[] = []
  const closers: (() => unknown)[] = [() => Promise.all(servers.map((server) => server.stop()))]
  const logger = createLogger({ level: 'error', service: 'admin', write: (line) => tell(line.trimEnd()) })
  try {
    if (!mayBeginEmpty) requireData(config)
    const { redisUrl, databaseUrl, migratorUrl } = await openStores(config, servers, tell)
    announce(environment, config, servers, tell)
    await reach('Postgres', () => migrate(migratorUrl))
    const database = connectDatabase(databaseUrl, { maxConnections: 4, applicationName: 'admin' })
    closers.unshift(() => database.close())
    const owner = connectDatabase(migratorUrl, { maxConnections: 2, statementTimeoutMs: 0, applicationName: 'admin' })
    closers.unshift(() => owner.close())
    const redis = connectRedis(redisUrl, {
      logger,
      keyPrefix: config.redisKeyPrefix,
      commandTimeoutMs: REDIS_COMMAND_TIMEOUT_MS,
      name: 'admin',
    })
    closers.unshift(() => redis.disconnect())
    await reach('Redis', () => waitForRedis(redis, REDIS_WAIT_MS))
    const other = await findOtherLayout(redis)
    if (other !== undefined) return fail(other)
    if (!mayBeginEmpty && servers.some((server) => server.isOurs)) await requireAccounts(database, config)
    return await work(assemble({ config, database, owner, redis, tell }, reading, logger))
  } finally {
    for (const close of closers) await close()
  }
}

type Stores = Pick<Services, 'config' | 'database' | 'owner' | 'redis' | 'tell'>

/** Commands that need no catalogue (suspend, credit, check) work even if its file has faults. */
function assemble({ config, database, owner, redis, tell }: Stores, reading: CatalogReading, logger: Logger): Services {
  const catalog = {
    get current(): Catalog {
      return typeof reading === 'string' ? fail(reading) : reading
    },
  }
  const defaultLimits = liveLimits(catalog)
  const { ledger, history } = assembleLedger({
    redis,
    database,
    logger,
    defaultLimits,
    historyTimeoutMs: HISTORY_TIMEOUT_MS,
  })
  return {
    config,
    database,
    owner,
    redis,
    history,
    ledger,
    defaultLimits,
    logger,
    accounts: createAccounts(database, ledger),
    apiKeys: keysOf(database, ledger, reading),
    credits: createCredits(database, ledger),
    get catalog() {
      return catalog.current
    },
    get topUps() {
      const { service } = catalog.current
      const parts = { config, service, database, ledger, clock: systemClock, logger }
      return assembleTopUps({ ...parts, onDeposit: () => undefined })
    },
    tell,
    by: { ...OPERATOR, requestId: randomId('cmd') },
  }
}

function keysOf(database: Database, ledger: Ledger, reading: CatalogReading): ApiKeys {
  if (typeof reading !== 'string') return createApiKeys(database, ledger, reading.service)
  return {
    ...createApiKeys(database, ledger, ''),
    create: async () => fail(reading),
    rotate: async () => fail(reading),
  }
}

/** The catalogue, or the reason why it can't be loaded. */
type CatalogReading = Catalog | string

async function readCatalog({ catalogPath }: Config, environment: Environment): Promise<CatalogReading> {
  const file = Bun.file(catalogPath)
  const text = await file.text().catch(() => undefined)
  if (text === undefined) return `CATALOG: cannot read ${catalogPath}`
  const result = loadCatalog(text, environment, { sandboxBaseUrl: ANY_UPSTREAM })
  if (result.kind === 'faulty') return formatFaults(`The catalogue ${catalogPath} has faults:`, result.faults)
  return result.kind === 'no_keys' ? `the catalogue ${catalogPath} offers no provider` : result.catalog
}

type Addresses = { redisUrl: string; databaseUrl: string; migratorUrl: string }

type Tell = Surroundings['tell']

async function openStores(config: Config, servers: EmbeddedServer[], progress: Tell): Promise<Addresses> {
  const { dataDir } = config
  async function start(launch: () => Promise<EmbeddedServer>): Promise<string> {
    const server = await launch()
    servers.push(server)
    return server.url
  }
  const startRedis = () => startEmbeddedRedis({ dataDir, cacheDir: CACHE_DIR, progress, attach: true })
  const redisUrl = config.redisUrls?.join(',') ?? (await redisGatewayUrl(dataDir, await start(startRedis)))
  const { databaseUrl } = config
  if (databaseUrl !== undefined) return { redisUrl, databaseUrl, migratorUrl: config.migratorUrl ?? databaseUrl }
  const superuserUrl = await start(() => startEmbeddedPostgres({ dataDir, progress, attach: true }))
  const { gatewayUrl, migratorUrl } = await preparePostgresRoles(dataDir, superuserUrl)
  return { redisUrl, databaseUrl: gatewayUrl, migratorUrl }
}

/** Refuses to run on newly created, empty stores, where every check would succeed. */
function requireData({ databaseUrl, redisUrls, dataDir }: Config): void {
  const isThere = databaseUrl !== undefined || existsSync(join(dataDir, 'postgres', 'data'))
  if (isThere && (redisUrls || existsSync(join(dataDir, 'redis')))) return
  fail(
    `${namesOf(databaseUrl, redisUrls)} unset, and no gateway has kept its data in ${resolve(dataDir)}: ${SAME_AS_GATEWAY}`,
  )
}

async function requireAccounts({ sql }: Database, { dataDir }: Config): Promise<void> {
  if ((await sql`SELECT 1 FROM accounts LIMIT 1`).length > 0) return
  fail(`the embedded stores in ${resolve(dataDir)} are empty, and no gateway runs on them: ${SAME_AS_GATEWAY}`)
}

const SAME_AS_GATEWAY = 'set REDIS_URL, DATABASE_URL or DATA_DIR as the gateway has them'

function namesOf(databaseUrl: unknown, redisUrls: unknown): string {
  if (databaseUrl !== undefined) return 'REDIS_URL is'
  return redisUrls === undefined ? 'REDIS_URL and DATABASE_URL are' : 'DATABASE_URL is'
}

/** Prints which stores are used, if the environment names neither stores nor folder. */
function announce(
  { DATA_DIR: named }: Environment,
  { dataDir, redisUrls, databaseUrl }: Config,
  servers: EmbeddedServer[],
  tell: Tell,
): void {
  if (named || servers.length === 0) return
  const stores = [redisUrls ? [] : 'Redis', databaseUrl === undefined ? 'Postgres' : []].flat().join(' and ')
  const owner = servers.some((server) => server.isOurs) ? 'no gateway runs on them' : 'those of the running gateway'
  tell(`Stores: embedded ${stores} in ${resolve(dataDir)} (${owner})`)
}

async function reach(store: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof SchemaError) fail(error.message)
    fail(`cannot use ${store}: ${describeFailure(error)}`)
  }
}
