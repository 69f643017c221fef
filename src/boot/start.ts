import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from '@/boot/embedded/sandbox'
import { catalogSecrets } from '@/catalog/catalog'
import { startTokenizer } from '@/catalog/estimate'
import { modelsAtALoss } from '@/catalog/losses'
import type { CatalogFile } from '@/catalog/reload/catalog-file'
import type { Catalog } from '@/catalog/types'
import type { Config, Environment } from '@/config/config'
import { isLoopback } from '@/config/situation'
import { migrate, SchemaError } from '@/db/migrate'
import { randomId } from '@/lib/ids'
import type { LogWriter } from '@/lib/log-writer'
import { createLogger, type Logger } from '@/lib/logger'
import { formatUsd, type Nano } from '@/lib/money'
import { createLearningRedactor } from '@/lib/redact'
import { type BannerFacts, formatBanner } from './banner'
import { loadAssets } from './dashboard-assets/load'
import { DEMO_CREDIT, type DemoAccount } from './demo-account'
import { FatalStartError } from './fatal-start-error'
import { loadSettings } from './load-settings'
import { checkPort, localAddress } from './port'
import { offerDemoAccount, prepareAccounts } from './prepare-accounts'
import { supervise } from './processes/supervise'
import { linkToSupervisor } from './processes/supervised'
import { openStores, type Stores } from './stores'

type Running = {
  banner: string
  reload(): void
  stop(signal: NodeJS.Signals): Promise<void>
}

type Serving = { address: string; reload(): void; stop(signal: NodeJS.Signals): Promise<void> }

/** Stops without waiting for proxies, as this server has never been ready. */
const AT_ONCE = 'SIGINT'
const COMMAND = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, '..', 'main.ts')]

type SupervisedStores = NonNullable<Config['supervised']>

type Prepared = {
  config: Config
  catalog: Catalog
  logger: Logger
  learnSecrets(secrets: string[]): void
  catalogFile: CatalogFile
  sandbox: Sandbox | undefined
  isSandboxed: boolean
  /** Resolves once this process's threads run. A supervisor, which serves no requests, has none. */
  threads: Promise<void>
}

const PARENT_CHECK_MS = 1_000

/** Starts the gateway from an environment. Rejects with a {@link FatalStartError} or EmbeddedServerError that names the remedy. */
export async function start(environment: Environment, logWriter: LogWriter): Promise<Running> {
  const prepared = await prepare(environment, logWriter)
  const { supervised } = prepared.config
  return supervised ? startSupervised(prepared, supervised) : startWhole(prepared, environment)
}

async function prepare(environment: Environment, logWriter: LogWriter): Promise<Prepared> {
  const settings = await loadSettings(environment)
  const { config, catalog } = settings
  const { redact, learn: learnSecrets } = createLearningRedactor(catalogSecrets(catalog))
  const logger = createLogger({ level: config.logLevel, write: logWriter.write, service: catalog.service, redact })
  const isServing = config.supervised !== undefined || config.processes === 1
  // Loads the server's modules before starting the threads, which take half a second and would delay the modules.
  if (isServing) await loadServer()
  // Started early: the threads must read their files before clients can use up all descriptors.
  const threads = isServing ? startThreads() : Promise.resolve()
  return { ...settings, logger, learnSecrets, threads }
}

/** Starts one of several server processes, which share stores and port. It ends with its supervisor. */
async function startSupervised(prepared: Prepared, { supervisorPid, ...stores }: SupervisedStores): Promise<Running> {
  // Checked from the start: the supervisor may die before this process serves.
  const watch = setInterval(() => {
    if (process.ppid !== supervisorPid) process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  const link = linkToSupervisor(prepared.logger)
  const options = serverOptions(prepared, stores.gateway)
  const { runServer } = await loadServer()
  const server = await runServer({ ...options, ...stores, exposition: link.exposition })
  link.serves(server.gateway.deps.metrics.snapshot)
  return {
    banner: '',
    reload: server.reload,
    async stop(signal) {
      clearInterval(watch)
      await server.stop(signal)
      await link.leave()
    },
  }
}

/** Starts everything on one machine: embedded stores, schema, one or several servers, first accounts. */
async function startWhole(prepared: Prepared, environment: Environment): Promise<Running> {
  const { config, catalog, logger, sandbox } = prepared
  await checkPort(config)
  for (const loss of modelsAtALoss(catalog)) logger.warn('price_below_cost', loss)
  // Built while the stores start, and before any request for a page. Later, each process would build the pages itself.
  const pages = prebuildPages(logger)
  const stores = await openStores(config, environment, (line) => process.stderr.write(`${line}\n`))
  let server: Serving | undefined
  try {
    await prepareSchema(stores, logger)
    const unpaidCredit = await prepareAccounts(prepared, stores)
    await pages
    server = await (config.processes > 1 ? startSeveral(prepared, stores, environment) : startOne(prepared, stores))
    // Made after all steps that may fail, because these secrets are shown only once.
    const demo = await offerDemoAccount(prepared, stores)
    const banner = formatBanner(bannerFacts(prepared, stores, server.address, { demo, unpaidCredit }))
    return { banner, reload: server.reload, stop: stopAll(server, stores, sandbox) }
  } catch (error) {
    if (!(error instanceof FatalStartError)) logger.error('start_failed', { error })
    await server?.stop(AT_ONCE)
    await stores.stop()
    await sandbox?.stop()
    throw error
  }
}

async function prepareSchema({ migratorUrl }: Stores, logger: Logger): Promise<void> {
  try {
    await migrate(migratorUrl, { onNewer: (names) => logger.warn('schema_is_newer', { has: names }) })
  } catch (error) {
    throw error instanceof SchemaError ? new FatalStartError(error.message) : error
  }
}

function stopAll(server: Serving, stores: Stores, sandbox: Sandbox | undefined): Running['stop'] {
  return async (signal) => {
    await server.stop(signal)
    await stores.stop()
    await sandbox?.stop()
  }
}

/** Builds the dashboard's pages if necessary. Without them the gateway serves its other routes. Never rejects. */
async function prebuildPages(logger: Logger): Promise<void> {
  await loadAssets(logger).catch((error) => logger.error('dashboard_unavailable', { error }))
}

async function startOne(prepared: Prepared, { redisUrl, databaseUrl }: Stores): Promise<Serving> {
  const { runServer } = await loadServer()
  return runServer({ ...serverOptions(prepared, gatewayName()), redisUrl, databaseUrl })
}

/** Loaded lazily: half of all modules, none of which a supervisor needs. */
function loadServer() {
  return import('./run-server')
}

function serverOptions({ config, catalog, logger, threads, learnSecrets, catalogFile }: Prepared, gateway: string) {
  return { config, catalog, logger, threads, reloading: { file: catalogFile, gateway, learnSecrets } }
}

/** Instance name for logs: host, process id and a random suffix, since containers may share the other two. */
function gatewayName(): string {
  return `${hostname()}:${process.pid}:${randomId('gw').slice(3, 7)}`
}

async function startSeveral(
  { config, logger, sandbox }: Prepared,
  stores: Stores,
  environment: Environment,
): Promise<Serving> {
  const supervisor = supervise({
    count: config.processes,
    command: COMMAND,
    environment: {
      ...environment,
      SUPERVISED_REDIS_URL: stores.redisUrl,
      SUPERVISED_DATABASE_URL: stores.databaseUrl,
      SUPERVISED_GATEWAY: gatewayName(),
      SUPERVISED_BY: String(process.pid),
      ...(sandbox && { SANDBOX_URL: sandbox.baseUrl }),
    },
    logger,
  })
  if (await supervisor.serves) return { address: localAddress(config), ...supervisor }
  await supervisor.stop(AT_ONCE)
  throw new FatalStartError('A server process ended while it was starting; its messages are above.')
}

function bannerFacts(
  { config, catalog, isSandboxed }: Prepared,
  stores: Stores,
  address: string,
  { demo, unpaidCredit }: { demo: DemoAccount | undefined; unpaidCredit: Nano },
): BannerFacts {
  const [firstModel] = catalog.models.keys()
  return {
    address: config.publicUrl ?? address,
    modelCount: catalog.models.size,
    tierCount: catalog.tiers.size,
    isSandboxed,
    isEmbedded: stores.isEmbedded,
    reach: describeReach(config, isSandboxed),
    dataDir: config.dataDir,
    unpaidUsd: unpaidCredit > 0 ? formatUsd(unpaidCredit) : undefined,
    demo: demo && { ...demo, creditUsd: formatUsd(DEMO_CREDIT), model: firstModel ?? '' },
  }
}

function describeReach(config: Config, isSandboxed: boolean): string {
  const { host, signIn, topUps } = config
  const who = isLoopback(host) ? `this machine only (${host})` : `anyone who can reach ${host}`
  const answers = isSandboxed ? 'simulated answers' : "your providers' answers, for keys with credit"
  return `${who}: ${answers}; ${signUpOf(signIn)}; ${depositsOf(topUps)}`
}

function signUpOf({ signUp, mail }: Config['signIn']): string {
  if (signUp === 'closed') return 'sign-up closed'
  return mail ? 'sign-up open, addresses confirmed' : 'sign-up open, addresses not confirmed'
}

function depositsOf({ deposit }: Config['topUps']): string {
  return deposit ? 'sandbox deposits, which credit what nobody paid' : 'no deposits'
}

/** Starts the threads and resolves once they run. Loading takes half a second of another core. */
async function startThreads(): Promise<void> {
  await Promise.all([startTokenizer(), startOutgoingCalls()])
}

/** The first call starts the HTTP client's thread. The first TLS call reads the trusted certificates, even if it fails. */
async function startOutgoingCalls(): Promise<void> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  await fetch(`https://127.0.0.1:${server.port}`).catch(() => undefined)
  await server.stop(true)
}
