/** Decides where the stores are: those of the environment, or real embedded servers for whatever it does not name. */
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { redisGatewayUrl } from '@/boot/embedded/redis-user'
import type { EmbeddedServer, Progress } from '@/boot/embedded/server'
import type { Config, Environment } from '@/config/config'
import { preparePostgresRoles, type RoleAddresses } from './postgres-roles'

/** Addresses of the stores and how to stop our own. `migratorUrl` is the address for changes of the schema. */
export type Stores = {
  redisUrl: string
  databaseUrl: string
  migratorUrl: string
  isEmbedded: boolean
  stop(): Promise<void>
}

/** A folder of the project, so that a fetched server survives the data's removal. */
const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')

/** Starts what the configuration leaves to us, both at once; `environment` is for fetching a server behind a proxy. Throws an EmbeddedServerError with one clear line. */
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
