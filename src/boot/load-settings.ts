import { readLogo } from '@/boot/brand/read-logo'
import type { Sandbox } from '@/boot/embedded/sandbox'
import { type CatalogResult, loadCatalog } from '@/catalog/catalog'
import { type CatalogFile, createCatalogFile } from '@/catalog/reload/catalog-file'
import type { Catalog } from '@/catalog/types'
import { type Config, catalogPathOf, type Environment, loadConfig } from '@/config/config'
import { type Fault, formatFaults } from '@/lib/fault'
import { FatalStartError } from './fatal-start-error'

type Settings = {
  config: Config
  catalog: Catalog
  isSandboxed: boolean
  sandbox: Sandbox | undefined
  catalogFile: CatalogFile
}

/** Reads environment and catalogue, and starts the sandbox if no provider has a key. Throws a FatalStartError with all faults of both. */
export async function loadSettings(environment: Environment): Promise<Settings> {
  const path = catalogPathOf(environment)
  const text = await Bun.file(path)
    .text()
    .catch(() => undefined)
  const load = (sandboxBaseUrl?: string): CatalogResult =>
    loadCatalog(text ?? '', environment, sandboxBaseUrl === undefined ? {} : { sandboxBaseUrl })
  // Answers are simulated if no provider has a key. This is also assumed if the file is faulty or can't be read.
  const alone = text === undefined ? undefined : load()
  const tried = loadConfig(environment, {
    isSimulated: alone?.kind !== 'loaded',
    ...(alone?.kind === 'no_keys' && { keyVariables: alone.variables }),
  })
  const catalogFaults = alone?.kind === 'faulty' ? alone.faults : []
  const settingFaults = [
    ...(tried.kind === 'faulty' ? tried.faults : []),
    ...(await logoFaults(environment)),
    ...(alone === undefined ? [{ place: 'CATALOG', message: `cannot read ${path}` }] : []),
  ]
  if (tried.kind === 'faulty' || alone === undefined || settingFaults.length + catalogFaults.length > 0) {
    throw new FatalStartError(describe(settingFaults, path, catalogFaults))
  }
  const { config } = tried
  const fileOf = ({ service }: Catalog, sandboxBaseUrl?: string) =>
    createCatalogFile({ path, environment, service, sandboxBaseUrl })
  if (alone.kind === 'loaded') {
    const { catalog } = alone
    return { config, catalog, isSandboxed: false, sandbox: undefined, catalogFile: fileOf(catalog) }
  }
  const sandbox = config.sandboxUrl === undefined ? await launchSandbox() : undefined
  const sandboxBaseUrl = sandbox?.baseUrl ?? config.sandboxUrl
  const simulated = load(sandboxBaseUrl)
  if (simulated.kind === 'loaded') {
    const { catalog } = simulated
    return { config, catalog, isSandboxed: true, sandbox, catalogFile: fileOf(catalog, sandboxBaseUrl) }
  }
  await sandbox?.stop()
  throw new FatalStartError(describe([], path, simulated.kind === 'faulty' ? simulated.faults : []))
}

async function logoFaults({ BRAND_LOGO: path }: Environment): Promise<Fault[]> {
  if (!path) return []
  const read = await readLogo(path)
  return read.kind === 'faulty' ? [{ place: 'BRAND_LOGO', message: read.message }] : []
}

async function launchSandbox(): Promise<Sandbox> {
  const { startSandbox } = await import('@/boot/embedded/sandbox')
  return startSandbox()
}

function describe(settingFaults: readonly Fault[], path: string, catalogFaults: readonly Fault[]): string {
  const parts = [
    settingFaults.length > 0 && formatFaults('The configuration has faults:', settingFaults),
    catalogFaults.length > 0 && formatFaults(`The catalogue ${path} has faults:`, catalogFaults),
  ]
  return parts.filter((part) => part !== false).join('\n')
}
