/** The suite's own Redis and Postgres: real servers that can be killed, hung, started again, and robbed of what they wrote last. */
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import type { EmbeddedServer } from '@/boot/embedded/server'

export interface StoreServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Starts again on the same port and data. */
  start(): Promise<void>
  /** Stops (`SIGSTOP`) or wakes (`SIGCONT`) the server with all the processes it has started. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** An orderly end. */
  stop(): Promise<void>
}

export interface RedisServer extends StoreServer {
  /** A connection past all proxies, for settings and questions. Reconnects. */
  readonly admin: Redis
  /** Bytes of the append-only file that is being written. */
  fileSize(): Promise<number>
  /**
   * Cuts that file to `bytes`, as a power failure does where the kernel had not written the rest yet, and says what was lost.
   * The server must be down.
   */
  cutFile(bytes: number): Promise<{ bytes: number; transitions: number }>
}

/** One password for all Redis servers of the suite: replicas and masters know each other by it. */
const REDIS_PASSWORD = 'faults0faults0faults0faults00000'
const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')
/** The servers lose processes here, not power. */
const POSTGRES_SETTINGS = {
  ...{ fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB', dynamic_shared_memory_type: 'mmap' },
  max_connections: '60',
}

/** Starts a Redis on data below `folder`; `config` holds directives of redis.conf. */
export async function startRedisServer(folder: string, config: Record<string, string> = {}): Promise<RedisServer> {
  const directory = join(folder, 'redis')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'password'), REDIS_PASSWORD, { mode: 0o600 })
  const directives = { masterauth: REDIS_PASSWORD, 'repl-diskless-sync-delay': '0', ...config }
  const server = await manage((port) =>
    startEmbeddedRedis({ dataDir: folder, cacheDir: CACHE_DIR, progress, config: directives, ...port }),
  )
  const admin = new Redis(server.url, { commandTimeout: 5_000, retryStrategy: () => 100, maxRetriesPerRequest: null })
  admin.on('error', () => undefined)
  const currentFile = async () => {
    const names = await readdir(join(directory, 'appendonlydir'))
    const newest = names
      .filter((name) => name.endsWith('.incr.aof'))
      .sort((a, b) => numberOf(a) - numberOf(b))
      .at(-1)
    if (newest === undefined) throw new Error('Redis writes no append-only file')
    return join(directory, 'appendonlydir', newest)
  }
  const { start, stop } = server
  return Object.assign(server, {
    admin,
    fileSize: async () => (await stat(await currentFile())).size,
    async cutFile(bytes: number) {
      const path = await currentFile()
      const lost = (await readFile(path)).subarray(bytes)
      await truncate(path, bytes)
      // Every script's writes end in an EXEC.
      return { bytes: lost.length, transitions: lost.toString('latin1').split('EXEC').length - 1 }
    },
    async start() {
      await start()
      if (admin.status === 'end') await admin.connect()
    },
    async stop() {
      admin.disconnect()
      await stop()
    },
  })
}

/** Starts a Postgres on data below `folder`. */
export async function startPostgresServer(folder: string): Promise<StoreServer> {
  return manage((port) => startEmbeddedPostgres({ dataDir: folder, progress, settings: POSTGRES_SETTINGS, ...port }))
}

async function manage(launch: (port: { port?: number }) => Promise<EmbeddedServer>): Promise<StoreServer> {
  let current = await launch({})
  const { url } = current
  const port = Number(new URL(url).port)
  return {
    url,
    port,
    get pid() {
      return current.pid
    },
    async kill() {
      process.kill(current.pid, 'SIGKILL')
      await current.stop()
    },
    async start() {
      current = await launch({ port })
    },
    async signal(name) {
      const children = await Bun.file(`/proc/${current.pid}/task/${current.pid}/children`).text()
      const pids = children.trim().split(/\s+/).filter(Boolean).map(Number)
      for (const pid of [current.pid, ...pids]) process.kill(pid, name)
    },
    stop: () => current.stop(),
  }
}

/** The number in `appendonly.aof.7.incr.aof`. */
function numberOf(name: string): number {
  return Number(/\.(\d+)\.incr/.exec(name)?.[1] ?? 0)
}

function progress(): void {
  // A start that fails says why in its error.
}
