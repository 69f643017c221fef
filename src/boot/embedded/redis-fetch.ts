/** Downloads Redis from the package sources of a Debian or Ubuntu machine into a folder, without root and without installing it. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { EmbeddedServerError } from './error'
import { CHILD_ENVIRONMENT, deathSignalPrefix, type OuterEnvironment, runToEnd } from './process'
import type { Progress } from './server'

/** A server program. If it was unpacked into a folder, `libraryPath` is its LD_LIBRARY_PATH. */
export type RedisProgram = { path: string; libraryPath: string | undefined }

const PACKAGE = 'redis-tools'
/** The package contains the server program under this name. It acts as the server if called as SERVER_NAME. */
const SHIPPED_NAME = 'redis-check-rdb'
const SERVER_NAME = 'redis-server'
const STEP_TIMEOUT_MS = 300_000
const NETWORK_TIMEOUT_SECONDS = 20
const PROXY_NAMES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']
const ADVICE = 'install redis-server or valkey-server with your package manager, or set REDIS_URL'

/** The Redis that an earlier start unpacked into `folder`, if it still runs on this machine. */
export async function findUnpackedRedis(folder: string): Promise<RedisProgram | undefined> {
  const path = join(folder, 'usr', 'bin', SERVER_NAME)
  if (!existsSync(path)) return undefined
  const libraryPath = await listLibraryFolders(folder)
  const environment = { ...CHILD_ENVIRONMENT, LD_LIBRARY_PATH: libraryPath }
  const { exitCode } = await runToEnd([path, '--version'], { environment })
  return exitCode === 0 ? { path, libraryPath } : undefined
}

/** Downloads Redis and its missing libraries into `folder`. Throws `EmbeddedServerError` if that fails. */
export async function fetchRedis(
  folder: string,
  progress: Progress,
  environment: OuterEnvironment,
): Promise<RedisProgram> {
  if (!Bun.which('apt-get', CHILD_ENVIRONMENT) || !Bun.which('dpkg-deb', CHILD_ENVIRONMENT)) {
    throw new EmbeddedServerError(`No Redis found on PATH: ${ADVICE}.`)
  }
  progress(`No Redis found on PATH: fetching it once into ${folder} (without installing it)`)
  await mkdir(dirname(folder), { recursive: true })
  // Apt's folders must be accessible to its unprivileged helpers, with no space in their paths.
  const workFolder = await mkdtemp(join(tmpdir(), 'svc-gateway-apt-'))
  const unpacked = await mkdtemp(`${folder}-`)
  try {
    const packages = await download(workFolder, progress, environment)
    progress(`Unpacking ${packages.length} packages`)
    for (const file of packages) await runStep(['dpkg-deb', '-x', file, unpacked], 'unpack a package', {})
    await symlink(SHIPPED_NAME, join(unpacked, 'usr', 'bin', SERVER_NAME))
    await chmod(unpacked, 0o755)
    if (!(await findUnpackedRedis(unpacked)))
      throw new EmbeddedServerError(`The Redis fetched does not run: ${ADVICE}.`)
    await replaceFolder(unpacked, folder)
  } finally {
    await rm(workFolder, { recursive: true, force: true })
    await rm(unpacked, { recursive: true, force: true })
  }
  const program = await findUnpackedRedis(folder)
  if (!program) throw new EmbeddedServerError(`The Redis fetched into ${folder} does not run: ${ADVICE}.`)
  return program
}

/** Downloads the package and its missing dependencies; returns the paths of the files. */
async function download(workFolder: string, progress: Progress, environment: OuterEnvironment): Promise<string[]> {
  const [state, cache] = [join(workFolder, 'state'), join(workFolder, 'cache')]
  await mkdir(join(state, 'lists', 'partial'), { recursive: true })
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true })
  const options = {
    'Dir::State': state,
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': cache,
    'Debug::NoLocking': '1',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': String(NETWORK_TIMEOUT_SECONDS),
    'Acquire::https::Timeout': String(NETWORK_TIMEOUT_SECONDS),
    // As root, apt would switch to a helper user, which cannot write into this private folder.
    ...(process.getuid?.() === 0 ? { 'APT::Sandbox::User': 'root' } : {}),
  }
  const apt = ['apt-get', '-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
  const proxies = Object.fromEntries(
    PROXY_NAMES.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
  progress('Reading the package lists')
  // The result is not checked: if an unreachable package source matters, the next step fails.
  await runToEnd(withDeath([...apt, 'update']), { environment: proxies, timeoutMs: STEP_TIMEOUT_MS })
  progress(`Downloading ${PACKAGE} and the libraries it needs`)
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends', '--yes', PACKAGE]
  await runStep([...apt, ...install], `download the package ${PACKAGE}`, proxies)
  const files = await readdir(join(cache, 'archives'))
  return files.filter((name) => name.endsWith('.deb')).map((name) => join(cache, 'archives', name))
}

async function runStep(
  command: readonly string[],
  purpose: string,
  environment: Record<string, string>,
): Promise<void> {
  const { exitCode, output } = await runToEnd(withDeath(command), { environment, timeoutMs: STEP_TIMEOUT_MS })
  if (exitCode === 0) return
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const reason = lines.find((line) => line.startsWith('E: ')) ?? lines.at(-1) ?? `exit code ${exitCode}`
  throw new EmbeddedServerError(`No Redis found on PATH, and could not ${purpose} (${reason.trim()}): ${ADVICE}.`)
}

function withDeath(command: readonly string[]): readonly string[] {
  return [...deathSignalPrefix('SIGKILL'), ...command]
}

async function replaceFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await rename(from, to).catch((error) => {
    if (!existsSync(to)) throw error
  })
}

async function listLibraryFolders(folder: string): Promise<string> {
  const found: string[] = []
  for (const base of [join(folder, 'usr', 'lib'), join(folder, 'lib')]) {
    const entries = await readdir(base, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) if (entry.isDirectory()) found.push(join(base, entry.name))
  }
  return found.join(':')
}
