/**
 * Real Redis and Postgres servers for tests, started on demand as children of the test process. They listen on
 * loopback, keep their data in a temporary folder, and die with the process however it ends.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { redisGatewayUrl } from '@/boot/embedded/redis-user'
import type { EmbeddedServer } from '@/boot/embedded/server'
import { preparePostgresRoles } from '@/boot/postgres-roles'
import { migrate } from '@/db/migrate'
import { OUR_ENVIRONMENT } from './bare-environment'

/** What a command of a test's own client may take, in milliseconds: far longer than on a quiet machine. */
export const COMMAND_TIMEOUT_MS = 10_000

/**
 * A server of one test's own. `kill` ends it at once (SIGKILL), as a crash would; `restart` stops it if it runs and
 * starts it again on the same address and data; `pid` is that of the latest start. Left running, it stops after all tests.
 */
export type TestServer = {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
  kill(): Promise<void>
  restart(): Promise<void>
}

/** Where the Postgres is that tests share: as its administrator, and as the gateway's role. */
type SharedPostgres = { url: string; gatewayUrl: string }

/** The variable by which the workers of a parallel run are told of it, as JSON. */
export const GIVEN_POSTGRES = 'TEST_POSTGRES'

const FOLDER_PREFIX = 'svc-gateway-test-'
/** A file system in memory, where creating and dropping a database takes a third of the time. Used if it has enough room. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 6 * 1024 ** 3
const TEMPLATE = 'svc_template'
/** Tests may lose data in a power cut; they may not wait for disks. */
const FAST_POSTGRES = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // Each connection and each dropped database goes through all of it.
  shared_buffers: '32MB',
  // One worker after another would look through hundreds of small databases.
  autovacuum: 'off',
  jit: 'off',
  max_connections: '400',
  // Clients hash a role's password so many times for each connection.
  scram_iterations: '1',
  max_wal_size: '256MB',
  // In the data folder rather than in /dev/shm, where a killed server would leave it for ever.
  dynamic_shared_memory_type: 'mmap',
}
const cacheDir = join(import.meta.dir, '..', '..', '.cache')

/** By host and port, for the servers that tests share or have started with roles. */
const gatewayAddresses = new Map<string, string>()
const runningServers = new Set<{ stop(): Promise<void> }>()
let folder: Promise<string> | undefined
let sharedRedis: Promise<TestServer> | undefined
let sharedPostgres: Promise<SharedPostgres> | undefined
let databaseCount = 0
let databases: string[] = []
/** Creates and drops the databases of {@link freshDatabase}. */
let administrator: postgres.Sql | undefined

/** Address of the one Redis that all tests of this process share: use keys of your own, never FLUSHALL. */
export async function redisUrl(): Promise<string> {
  sharedRedis ??= startRedis()
  return (await sharedRedis).url
}

/** Address of a new, migrated, empty database on the one Postgres that all tests of this process, or of all workers, share. */
export async function freshDatabase(): Promise<string> {
  sharedPostgres ??= givenPostgres() ?? startMigratedPostgres()
  const { url, gatewayUrl } = await sharedPostgres
  gatewayAddresses.set(new URL(url).host, gatewayUrl)
  const name = `svc_test_${process.pid}_${++databaseCount}`
  databases.push(name)
  administrator ??= connect(url)
  await administrator.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`)
  return withDatabase(url, name)
}

/** Starts a Redis of the test's own; `config` holds directives of redis.conf, such as `{ maxmemory: '10mb' }`. */
export async function startRedis(options: { config?: Record<string, string> } = {}): Promise<TestServer> {
  const dataDir = await newDataDir()
  const config = { appendfsync: 'no', ...options.config }
  const server = await manage((port) => startEmbeddedRedis({ dataDir, cacheDir, progress, config, ...port }))
  gatewayAddresses.set(new URL(server.url).host, await redisGatewayUrl(dataDir, server.url))
  return server
}

/** Starts a Postgres of the test's own, with one empty, unmigrated database; `settings` are server settings. */
export async function startPostgres(options: { settings?: Record<string, string> } = {}): Promise<TestServer> {
  return startPostgresOn(await newDataDir(), options.settings)
}

function startPostgresOn(dataDir: string, changes: Record<string, string> = {}): Promise<TestServer> {
  const settings = { ...FAST_POSTGRES, ...changes }
  return manage((port) => startEmbeddedPostgres({ dataDir, progress, settings, ...port }))
}

/**
 * A store's address as the gateway uses it, with the rights of deploy/ and no more. That of the administrator, with which tests
 * look around and do damage, stays as it is where the server is not one of ours.
 */
export function asGateway(url: string): string {
  // The address of Sentinels is none of one server, and has its own user in it.
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  const known = gatewayAddresses.get(host)
  if (known === undefined) return url
  return url.startsWith('postgres') ? withDatabase(known, pathname.slice(1)) : known
}

/**
 * Stops every server of this process and removes their data. Whatever is asked for afterwards starts anew: preload.ts calls it after
 * the last test, and a worker of several after each of its files.
 */
export async function stopStores(): Promise<void> {
  // A server that outlives us would keep them: ten megabytes each.
  if (givenPostgres())
    for (const name of databases) await administrator?.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await administrator?.end()
  await Promise.all([...runningServers].map((server) => server.stop()))
  if (folder) await rm(await folder, { recursive: true, force: true })
  databases = []
  folder = sharedRedis = sharedPostgres = administrator = undefined
}

/** The Postgres that whoever started this process has started for all of its workers. */
function givenPostgres(): Promise<SharedPostgres> | undefined {
  const given = OUR_ENVIRONMENT[GIVEN_POSTGRES]
  return given === undefined ? undefined : Promise.resolve(JSON.parse(given))
}

/** Starts the Postgres on which {@link freshDatabase} makes databases: here, or handed to other processes by {@link GIVEN_POSTGRES}. */
export async function startMigratedPostgres(): Promise<SharedPostgres> {
  const dataDir = await newDataDir()
  const server = await startPostgresOn(dataDir)
  await runStatement(server.url, `CREATE DATABASE ${TEMPLATE}`)
  const { migratorUrl, gatewayUrl } = await preparePostgresRoles(dataDir, withDatabase(server.url, TEMPLATE))
  await migrate(migratorUrl)
  return { url: server.url, gatewayUrl }
}

async function manage(start: (port: { port?: number }) => Promise<EmbeddedServer>): Promise<TestServer> {
  let current = await start({})
  const port = Number(new URL(current.url).port)
  const { url } = current
  const server: TestServer = {
    url,
    get pid() {
      return current.pid
    },
    async stop() {
      runningServers.delete(server)
      await current.stop()
    },
    async kill() {
      process.kill(current.pid, 'SIGKILL')
      await current.stop()
    },
    async restart() {
      await current.stop()
      current = await start({ port })
      runningServers.add(server)
    },
  }
  runningServers.add(server)
  return server
}

async function newDataDir(): Promise<string> {
  folder ??= createFolder()
  return mkdtemp(join(await folder, 'store-'))
}

/** Makes this process's folder and clears away those of processes that were killed before they could. */
async function createFolder(): Promise<string> {
  const place = (await hasRoomInMemory()) ? MEMORY : tmpdir()
  for (const entry of await readdir(place)) {
    if (!entry.startsWith(FOLDER_PREFIX)) continue
    if (isRunning(Number(entry.slice(FOLDER_PREFIX.length)))) continue
    await rm(join(place, entry), { recursive: true, force: true })
  }
  const path = join(place, `${FOLDER_PREFIX}${process.pid}`)
  await mkdir(path, { recursive: true })
  return path
}

async function hasRoomInMemory(): Promise<boolean> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= MEMORY_BYTES
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, onnotice: () => undefined })
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = connect(url)
  try {
    await client.unsafe(statement)
  } finally {
    await client.end()
  }
}

function progress(): void {
  // Tests are quiet; a start that fails says why in its error.
}
