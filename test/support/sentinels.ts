/** A Redis primary with a replica and three Sentinels, all real processes on loopback, which fail over by themselves. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import acl from '#deploy/redis/gateway.acl' with { type: 'text' }
import { freePort } from '@/boot/embedded/free-port'
import { findRedis } from '@/boot/embedded/redis-binary'
import { startRedis, type TestServer } from './stores'
import { until } from './until'

/** What servers and Sentinels are told, each of its own. */
const PASSWORD = 'servers0servers0servers0'
const GATEWAY_PASSWORD = 'gateway0gateway0gateway0'
const SENTINEL_PASSWORD = 'watchers0watchers0'
const PRIMARY_NAME = 'ledger'
const SENTINELS = 3
const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')

type WatchedNode = { server: TestServer; admin: Redis; port: number; restart(): Promise<void> }

export type WatchedRedis = {
  /** The gateway's address, which names the Sentinels only. */
  url: string
  primary: WatchedNode
  replica: WatchedNode
  /** Ends the stream of changes to the replica, which goes on answering with what it has. */
  cutLink(): Promise<void>
  stop(): Promise<void>
}

/** Starts them, and waits until the Sentinels know each other and the replica. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const [primary, replica] = [await startNode(), await startNode()]
  await replica.admin.call('REPLICAOF', '127.0.0.1', primary.port)
  await until(async () => (await replica.admin.info('replication')).includes('master_link_status:up'), 'the replica')
  const folder = await mkdtemp(join(tmpdir(), 'svc-sentinels-'))
  const program = await findRedis(CACHE_DIR, () => undefined, undefined)
  const children: Bun.Subprocess[] = []
  const ports: number[] = []
  for (let index = 0; index < SENTINELS; index++) {
    const port = await freePort()
    const path = join(folder, `${index}.conf`)
    await writeFile(path, sentinelConfig(port, primary.port))
    const env = program.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: program.libraryPath }
    const output = { stdout: 'ignore', stderr: 'ignore' } as const
    children.push(Bun.spawn([program.path, path, '--sentinel'], { ...output, cwd: folder, env }))
    ports.push(port)
  }
  await Promise.all(ports.map(knowsAll))
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return {
    url: `redis+sentinel://svc:${GATEWAY_PASSWORD}@${hosts}/${PRIMARY_NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
    primary,
    replica,
    async cutLink() {
      await replica.admin.config('SET', 'masterauth', 'wrong')
      await primary.admin.call('CLIENT', 'KILL', 'TYPE', 'replica')
      await until(async () => (await replica.admin.info('replication')).includes('master_link_status:down'), 'the cut')
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map((child) => child.exited))
      for (const { admin, server } of [primary, replica]) {
        admin.disconnect()
        await server.kill().catch(() => undefined)
        await server.stop()
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startNode(): Promise<WatchedNode> {
  const server = await startRedis({ config: { masterauth: PASSWORD, 'repl-diskless-sync-delay': '0' } })
  await shareSecrets(server)
  const port = Number(new URL(server.url).port)
  const admin = new Redis({ host: '127.0.0.1', port, password: PASSWORD })
  admin.on('error', () => undefined)
  const restart = async () => {
    await server.restart()
    await shareSecrets(server)
    // What it has tried meanwhile was refused for the password.
    admin.disconnect(true)
  }
  return { server, admin, port, restart }
}

/** Every server starts with passwords of its own; Sentinels and gateways know one for all. */
async function shareSecrets(server: TestServer): Promise<void> {
  const first = new Redis(server.url)
  await first.config('SET', 'requirepass', PASSWORD)
  await first.call('ACL', 'SETUSER', 'svc', `>${GATEWAY_PASSWORD}`, ...acl.trim().split(' '))
  first.disconnect()
}

function sentinelConfig(port: number, primaryPort: number): string {
  return [
    ...['bind 127.0.0.1', `port ${port}`, 'save ""', `requirepass ${SENTINEL_PASSWORD}`],
    ...[`sentinel sentinel-pass ${SENTINEL_PASSWORD}`, `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${primaryPort} 2`],
    ...[`sentinel auth-pass ${PRIMARY_NAME} ${PASSWORD}`, `sentinel down-after-milliseconds ${PRIMARY_NAME} 5000`],
    ...[`sentinel failover-timeout ${PRIMARY_NAME} 5000`, ''],
  ].join('\n')
}

async function knowsAll(port: number): Promise<void> {
  const sentinel = new Redis({ host: '127.0.0.1', port, password: SENTINEL_PASSWORD, enableReadyCheck: false })
  sentinel.on('error', () => undefined)
  await until(async () => {
    const list = async (kind: string) =>
      ((await sentinel.call('SENTINEL', kind, PRIMARY_NAME).catch(() => [])) as unknown[]).length
    return (await list('sentinels')) === SENTINELS - 1 && (await list('replicas')) === 1
  }, 'the Sentinels to know each other')
  sentinel.disconnect()
}
