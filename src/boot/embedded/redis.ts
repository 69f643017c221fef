/** The embedded Redis: a real server on loopback with an append-only file, used without `REDIS_URL`. */
import { chmod, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { CHILD_ENVIRONMENT, deathSignalPrefix, type OuterEnvironment } from './process'
import { findRedis } from './redis-binary'
import type { RedisProgram } from './redis-fetch'
import { redisUserLine } from './redis-user'
import { readOrCreatePassword } from './secret'
import { type EmbeddedServer, type Launch, type Progress, runServer, type ServerKind } from './server'

/**
 * Data are in the folder `redis` of `dataDir`; `cacheDir` has a downloaded server program. `config` adds or replaces directives of
 * redis.conf. `attach`: if another gateway runs a server on these data, uses that server; without it, refuses. `environment` gives PATH and
 * proxy settings; without it, this process's PATH is used.
 */
type EmbeddedRedisOptions = {
  dataDir: string
  cacheDir: string
  progress: Progress
  attach?: boolean
  port?: number
  config?: Readonly<Record<string, string>>
  environment?: OuterEnvironment
}

const REDIS: ServerKind = {
  name: 'Redis',
  executables: ['redis-server', 'redis-check-rdb', 'valkey-server', 'valkey-check-rdb'],
  stopSignal: 'SIGTERM',
}
const PROBE_TIMEOUT_MS = 1_000

/** Starts Redis below `dataDir` and resolves once it answers. Throws `EmbeddedServerError`. */
export function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedServer> {
  const directory = join(resolve(options.dataDir), 'redis')
  const { progress, attach = false, port } = options
  return runServer(REDIS, { directory, progress, attach, port }, async () => {
    await chmod(directory, 0o700)
    const [program, password] = await Promise.all([
      findRedis(options.cacheDir, progress, options.environment),
      readOrCreatePassword(join(directory, 'password')),
    ])
    return (freePort) => planLaunch(directory, program, password, freePort, options.config)
  })
}

async function planLaunch(
  directory: string,
  program: RedisProgram,
  password: string,
  port: number,
  config: Readonly<Record<string, string>> = {},
): Promise<Launch> {
  const directives = {
    bind: '127.0.0.1',
    port: String(port),
    'protected-mode': 'yes',
    requirepass: password,
    daemonize: 'no',
    dir: directory,
    pidfile: join(directory, 'redis.pid'),
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    ...config,
  }
  const lines = Object.entries(directives).map(([name, value]) => `${name} ${JSON.stringify(value)}\n`)
  const configPath = join(directory, 'redis.conf')
  lines.push(`${await redisUserLine(directory)}\n`)
  await writeFile(configPath, lines.join(''), { mode: 0o600 })
  return {
    command: [...deathSignalPrefix(REDIS.stopSignal), program.path, configPath],
    environment: {
      ...CHILD_ENVIRONMENT,
      ...(program.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: program.libraryPath }),
    },
    workingDirectory: directory,
    url: `redis://:${password}@127.0.0.1:${port}`,
    isReady: () => answersPing(port, password),
  }
}

/** Whether the server accepts the login and a PING. It refuses both while loading its file. */
function answersPing(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    let answer = ''
    const finish = () => {
      resolve(answer.startsWith('+OK\r\n+PONG\r\n'))
      socket.destroy()
    }
    socket.setTimeout(PROBE_TIMEOUT_MS, finish)
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
      if (answer.split('\r\n').length > 2) finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
  })
}
