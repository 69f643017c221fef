/** From an environment to a running gateway: every way in which a start can fail ends in one message that says what to do. */
import { join } from 'node:path'
import type { Sandbox } from '@/boot/embedded/sandbox'
import { type CatalogResult, catalogSecrets, loadCatalog } from '@/catalog/catalog'
import { modelsAtALoss } from '@/catalog/losses'
import type { Catalog } from '@/catalog/types'
import { type Config, type Environment, loadConfig } from '@/config/config'
import type { Situation } from '@/config/situation'
import { migrate } from '@/db/migrate'
import { formatFaults } from '@/lib/fault'
import type { LogWriter } from '@/lib/log-writer'
import { createLogger, type Logger } from '@/lib/logger'
import { formatUsd } from '@/lib/money'
import { createRedactor } from '@/lib/redact'
import { type BannerFacts, formatBanner } from './banner'
import { loadAssets } from './dashboard-assets/load'
import { DEMO_CREDIT } from './demo-account'
import { describeReach } from './describe-reach'
import { type Preparation, prepareAccounts } from './prepare-accounts'
import { localAddress, runServer, WARM_UP_DELAY_MS } from './run-server'
import { openStores, type Stores } from './stores'
import { supervise } from './supervise'

/** Something an operator can mend; the message says what. */
export class FatalStartError extends Error {
  override readonly name = 'FatalStartError'
}

/** A gateway that runs: where it is, and how it is stopped. */
type Running = { address: string; stop(signal: NodeJS.Signals): Promise<void> }

/** The file each server process of several runs. */
const MAIN = join(import.meta.dir, '..', 'main.ts')

type SupervisedStores = NonNullable<Config['supervised']>

type Prepared = { config: Config; catalog: Catalog; logger: Logger; sandbox: Sandbox | undefined; isSandboxed: boolean }

/** How often a supervised process looks whether its supervisor still lives. */
const PARENT_CHECK_MS = 1_000

/** Starts the gateway. Rejects with a {@link FatalStartError} or an EmbeddedServerError where an operator has to act. */
export async function start(environment: Environment, logWriter: LogWriter): Promise<Running> {
  const prepared = await prepare(environment, logWriter)
  const { supervised } = prepared.config
  return supervised ? startSupervised(prepared, supervised) : startWhole(prepared, environment)
}

async function prepare(environment: Environment, logWriter: LogWriter): Promise<Prepared> {
  const tried = requireSound(environment, { isSimulated: true })
  const text = await Bun.file(tried.catalogPath)
    .text()
    .catch(() => {
      throw new FatalStartError(`CATALOG: cannot read ${tried.catalogPath}`)
    })
  let sandbox: Sandbox | undefined
  let loaded = loadCatalog(
    text,
    environment,
    tried.sandboxUrl === undefined ? {} : { sandboxBaseUrl: tried.sandboxUrl },
  )
  if (loaded.kind === 'no_keys' && !tried.isProduction) {
    const { startSandbox } = await import('@/boot/embedded/sandbox')
    sandbox = await startSandbox()
    loaded = loadCatalog(text, environment, { sandboxBaseUrl: sandbox.baseUrl })
  }
  const { catalog, isSandboxed } = requireLoaded(loaded, tried)
  // What is free to give away depends on the catalogue: with a provider key, nothing is.
  const config = isSandboxed ? tried : requireSound(environment, { isSimulated: false })
  const redact = createRedactor(catalogSecrets(catalog))
  const logger = createLogger({ level: config.logLevel, write: logWriter.write, service: catalog.service, redact })
  return { config, catalog, logger, sandbox, isSandboxed }
}

function requireSound(environment: Environment, situation: Situation): Config {
  const result = loadConfig(environment, situation)
  if (result.kind === 'loaded') return result.config
  throw new FatalStartError(formatFaults('The configuration has faults:', result.faults))
}

function requireLoaded(result: CatalogResult, config: Config): Extract<CatalogResult, { kind: 'loaded' }> {
  switch (result.kind) {
    case 'loaded':
      return result
    case 'faulty':
      throw new FatalStartError(formatFaults(`The catalogue ${config.catalogPath} has faults:`, result.faults))
    case 'no_keys':
      throw new FatalStartError(
        `No provider has a key, and production has no sandbox: set ${result.variables.join(' or ')}.`,
      )
  }
}

/** One server of several: the stores and the port are shared, and its life is tied to the supervisor's. */
async function startSupervised({ config, catalog, logger }: Prepared, stores: SupervisedStores): Promise<Running> {
  const server = await runServer({ config, catalog, logger, ...stores })
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  return {
    address: server.address,
    async stop() {
      clearInterval(watch)
      await server.stop()
    },
  }
}

/** Everything on one machine: the stores it has to bring, the schema, a first account, and one server here or several. */
async function startWhole(prepared: Prepared, environment: Environment): Promise<Running> {
  const { config, catalog, logger, sandbox } = prepared
  for (const loss of modelsAtALoss(catalog)) logger.warn('price_below_cost', loss)
  const stores = await openStores(config, environment, (line) => process.stderr.write(`${line}\n`))
  try {
    await migrate(stores.migratorUrl)
    const preparation = await prepareAccounts(prepared, stores)
    const server = config.processes > 1 ? startSeveral(prepared, stores, environment) : await startOne(prepared, stores)
    // Built ahead of the first visitor, and only once where several processes serve.
    setTimeout(() => void prebuildPages(logger), WARM_UP_DELAY_MS).unref()
    process.stdout.write(formatBanner(bannerFacts(prepared, stores, server.address, preparation)))
    return {
      address: server.address,
      async stop(signal) {
        await server.stop(signal)
        await stores.stop()
        await sandbox?.stop()
      },
    }
  } catch (error) {
    logger.error('start_failed', { error })
    await stores.stop()
    await sandbox?.stop()
    throw error
  }
}

async function prebuildPages(logger: Logger): Promise<void> {
  await loadAssets(logger).catch((error) => logger.error('dashboard_unavailable', { error }))
}

async function startOne({ config, catalog, logger }: Prepared, stores: Stores): Promise<Running> {
  const { redisUrl, databaseUrl } = stores
  return runServer({ config, catalog, logger, redisUrl, databaseUrl })
}

function startSeveral({ config, logger, sandbox }: Prepared, stores: Stores, environment: Environment): Running {
  const supervisor = supervise({
    count: config.processes,
    command: [process.execPath, MAIN],
    environment: {
      ...environment,
      SUPERVISED_REDIS_URL: stores.redisUrl,
      SUPERVISED_DATABASE_URL: stores.databaseUrl,
      ...(sandbox && { SANDBOX_URL: sandbox.baseUrl }),
    },
    logger,
  })
  return { address: localAddress(config), stop: supervisor.stop }
}

function bannerFacts(
  { config, catalog, isSandboxed }: Prepared,
  stores: Stores,
  address: string,
  { demo, unpaidCredit }: Preparation,
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
    demo:
      demo !== undefined && firstModel !== undefined
        ? { ...demo, creditUsd: formatUsd(DEMO_CREDIT), model: firstModel }
        : undefined,
  }
}
