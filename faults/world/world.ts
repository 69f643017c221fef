/** What a fault happens to: stores, two gateways as processes, the scripted provider, and the bank that knows what is right. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startCluster, type TestCluster } from '@test/ledger/cluster-stores'
import { startWatchedRedis, type WatchedRedis } from '@test/support/sentinels'
import { until } from '@test/support/until'
import { migrate } from '@/db/migrate'
import { type Bank, openBank } from './bank'
import { catalogText } from './catalog-file'
import { createGatewayProcess, type GatewayProcess } from './gateway-process'
import { type RedisServer, type StoreServer, startPostgresServer, startRedisServer } from './servers'
import { startProxy, type TcpProxy } from './tcp-proxy'
import { startTlsUpstream } from './tls-upstream'
import { startUpstream, type Upstream } from './upstream'

export type World = {
  folder: string
  postgres: StoreServer
  /** Between the gateways and Postgres. */
  postgresProxy: TcpProxy
  bank: Bank
  upstream: Upstream
  gateways: readonly GatewayProcess[]
  /** One more gateway on the same stores, not started; `preload` is a file its process runs first. */
  spare(name: string, preload?: string): GatewayProcess
  close(): Promise<void>
}

/** One Redis behind a proxy. */
export type SingleWorld = World & {
  kind: 'single'
  /** The server that the address leads to now. */
  redis: RedisServer
  redisProxy: TcpProxy
  /** Another server takes over the address, for gateways and for the bank. The old one is closed for good. */
  failOver(to: RedisServer): Promise<void>
}
/** Three masters, the first with a replica. */
export type ClusterWorld = World & { kind: 'cluster'; cluster: TestCluster }
/** A primary and a replica, which three Sentinels watch; gateways know the Sentinels only. */
export type WatchedWorld = World & { kind: 'watched'; watched: WatchedRedis }

/** Holds of a gateway that died are expired after this long. */
export const HOLD_TTL_MS = 5_000
/** What open answers get after SIGTERM. */
export const SHUTDOWN_TIMEOUT_MS = 3_000
const GATEWAYS = 2

/** Opens a world with one Redis, which writes its file as `appendfsync` says. */
export async function openSingleWorld(folder: string): Promise<SingleWorld> {
  const [redis, common] = await Promise.all([
    startRedisServer(join(folder, 'redis-1'), { appendfsync: 'everysec' }),
    openStores(folder),
  ])
  const [redisProxy, bankProxy] = await Promise.all([startProxy(redis.port), startProxy(redis.port)])
  const world = await complete(common, through(redisProxy, redis.url), through(bankProxy, redis.url), folder)
  const single: SingleWorld = {
    ...{ ...world, kind: 'single', redis, redisProxy },
    async failOver(to) {
      const before = single.redis
      single.redis = to
      for (const proxy of [redisProxy, bankProxy]) proxy.retarget(to.port)
      await before.stop()
      await until(() => world.bank.redis.status === 'ready', 'the bank to find the new server')
    },
    async close() {
      await world.close()
      for (const proxy of [redisProxy, bankProxy]) proxy.close()
      await single.redis.stop()
    },
  }
  return single
}

/** Opens a world with a Redis Cluster. */
export async function openClusterWorld(folder: string): Promise<ClusterWorld> {
  const [cluster, common] = await Promise.all([startCluster(3), openStores(folder)])
  const [first] = cluster.nodes
  if (first) await cluster.addReplica(first)
  const world = await complete(common, cluster.url, cluster.url, folder)
  return {
    ...{ ...world, kind: 'cluster', cluster },
    async close() {
      await world.close()
      await cluster.stop()
    },
  }
}

/** Opens a world whose Redis fails over by itself. */
export async function openWatchedWorld(folder: string): Promise<WatchedWorld> {
  const [watched, common] = await Promise.all([startWatchedRedis(), openStores(folder)])
  const world = await complete(common, watched.url, watched.url, folder)
  return {
    ...{ ...world, kind: 'watched', watched },
    async close() {
      await world.close()
      await watched.stop()
    },
  }
}

/** The same address, by way of a proxy. */
function through(proxy: TcpProxy, url: string): string {
  const address = new URL(url)
  address.port = String(proxy.port)
  return address.href
}

type Common = {
  postgres: StoreServer
  postgresProxy: TcpProxy
  upstream: Upstream
  catalogPath: string
  closeTls(): void
}

async function openStores(folder: string): Promise<Common> {
  await mkdir(folder, { recursive: true })
  const [postgres, upstream] = await Promise.all([startPostgresServer(join(folder, 'postgres-1')), startUpstream()])
  await migrate(postgres.url)
  const postgresProxy = await startProxy(postgres.port)
  const tls = startTlsUpstream()
  const catalogPath = join(folder, 'catalog.json')
  await writeFile(catalogPath, catalogText(upstream.url, tls.url))
  return { postgres, postgresProxy, upstream, catalogPath, closeTls: tls.stop }
}

async function complete(common: Common, redisUrl: string, directRedisUrl: string, folder: string): Promise<World> {
  const { postgres, postgresProxy, upstream, catalogPath } = common
  const bank = await openBank(directRedisUrl, postgres.url)
  // With an account in the books, no gateway makes a demo account of its own.
  await bank.customer(1)
  const environment = {
    ...{ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', CATALOG: catalogPath },
    ...{ REDIS_URL: redisUrl, DATABASE_URL: through(postgresProxy, postgres.url), DATA_DIR: join(folder, 'unused') },
    ...{ HOLD_TTL_MS: String(HOLD_TTL_MS), SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS) },
    RECORD_CLAIM_MS: '3000',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  }
  const spare = (name: string, preload?: string) => createGatewayProcess(name, environment, preload)
  const gateways = Array.from({ length: GATEWAYS }, (_, index) => spare(`gateway ${index + 1}`))
  await Promise.all(gateways.map((gateway) => gateway.start()))
  return {
    ...{ folder, postgres, postgresProxy, bank, upstream, gateways, spare },
    async close() {
      await Promise.all(gateways.map(end))
      for (const gateway of gateways) await writeFile(join(folder, `${gateway.name}.log`), gateway.output())
      await bank.close()
      await upstream.stop()
      common.closeTls()
      postgresProxy.close()
      await postgres.stop()
    },
  }
}

async function end(gateway: GatewayProcess): Promise<void> {
  if (!gateway.isRunning()) return
  gateway.signal('SIGKILL')
  await gateway.exited()
}
