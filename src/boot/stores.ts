import { join } from 'node:path'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { redisGatewayUrl } from '@/boot/embedded/redis-user'
import type { EmbeddedServer, Progress } from '@/boot/embedded/server'
import type { Config, Environment } from '@/config/config'
import { preparePostgresRoles, type RoleAddresses } from './postgres-roles'

/** Addresses of the stores; `stop` stops those that this process started. `migratorUrl` is for schema changes. */
export type Stores = {
  redisUrl: string
  databaseUrl: string
  migratorUrl: string
  isEmbedded: boolean
  stop(): Promise<void>
}

/** The folder of downloaded servers: outside the data directory, so that they survive its deletion. */
const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')

/** Starts the stores that are not configured, in parallel. `environment`: proxies for downloads. Throws EmbeddedServerError (one line). */
export async function openStores(config: Config, environment: Environment, progress: Progress): Promise<Stores> {
  const { dataDir, redisUrls, databaseUrl, migratorUrl } = config
  const started: EmbeddedServer[] = []
  async function start(launch: () => Promise<EmbeddedServer>): Promise<string> {
    const server = await launch()
    started.push(server)
    return server.url
  }
  async function startRedis(): Promise<string> {
    const url = await start(() => startEmbeddedRedis({ dataDir, cacheDir: CACHE_DIR, progress, environment }))
    return redisGatewayUrl(dataDir, url)
  }
  async function startPostgres(): Promise<RoleAddresses> {
    return preparePostgresRoles(dataDir, await start(() => startEmbeddedPostgres({ dataDir, progress })))
  }
  async function stop(): Promise<void> {
    await Promise.all(started.map((server) => server.stop()))
  }
  const results = await Promise.allSettled([
    redisUrls ? redisUrls.join(',') : startRedis(),
    databaseUrl === undefined ? startPostgres() : { gatewayUrl: databaseUrl, migratorUrl: migratorUrl ?? databaseUrl },
  ])
  const [redis, database] = results
  if (redis.status === 'fulfilled' && database.status === 'fulfilled') {
    const { gatewayUrl, migratorUrl: ownerUrl } = database.value
    const addresses = { redisUrl: redis.value, databaseUrl: gatewayUrl, migratorUrl: ownerUrl }
    return { ...addresses, isEmbedded: started.length > 0, stop }
  }
  await stop()
  throw redis.status === 'rejected' ? redis.reason : (database as PromiseRejectedResult).reason
}
