/** The real Redis and Postgres of a run, set as an operator sets them, and the customers in their books. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bank, openBank } from '@faults/world/bank'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { migrate } from '@/db/migrate'

export interface BenchStores {
  readonly redisUrl: string
  readonly databaseUrl: string
  readonly redisPid: number
  readonly postgresPid: number
  readonly bank: Bank
  /** How long Redis' append-only file is now, in bytes; undefined where it was begun anew since the last question. */
  logBytes(): Promise<number | undefined>
  /** Keys of as many accounts, in use by every measurement. */
  readonly keys: readonly string[]
  /** Makes customers whose keys no gateway has seen yet. */
  newKeys(count: number): Promise<string[]>
  close(): Promise<void>
}

const CACHE_DIR = join(import.meta.dir, '..', '..', '.cache')
/** Every commit is durable; the rest is what a machine of this size would be given. */
const POSTGRES_SETTINGS = { shared_buffers: '512MB', max_wal_size: '2GB', max_connections: '60' }
const REDIS_SETTINGS = { appendfsync: 'everysec' }
const CREDIT_USD = 1_000
const CUSTOMERS_AT_ONCE = 16

/** Starts both servers on data below `folder` and makes `customers` accounts, each with credit and one key. */
export async function openStores(folder: string, customers: number): Promise<BenchStores> {
  const [redisDir, postgresDir] = [join(folder, 'redis'), join(folder, 'postgres')]
  await Promise.all([mkdir(redisDir, { recursive: true }), mkdir(postgresDir, { recursive: true })])
  const progress = () => undefined
  const [redis, postgres] = await Promise.all([
    startEmbeddedRedis({ dataDir: redisDir, cacheDir: CACHE_DIR, progress, config: REDIS_SETTINGS }),
    startEmbeddedPostgres({ dataDir: postgresDir, progress, settings: POSTGRES_SETTINGS }),
  ])
  await migrate(postgres.url)
  const bank = await openBank(redis.url, postgres.url)
  const keys = await createCustomers(bank, customers)
  return {
    ...{ redisUrl: redis.url, databaseUrl: postgres.url, redisPid: redis.pid, postgresPid: postgres.pid, bank, keys },
    logBytes: createLogReader(bank),
    newKeys: (count) => createCustomers(bank, count),
    async close() {
      await bank.close()
      await Promise.all([redis.stop(), postgres.stop()])
    },
  }
}

function createLogReader({ redis }: Bank): () => Promise<number | undefined> {
  let base: string | undefined
  return async () => {
    const info = String(await redis.call('INFO', 'persistence'))
    const field = (name: string) => new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]
    const before = base
    base = field('aof_base_size')
    return before === base ? Number(field('aof_current_size')) : undefined
  }
}

async function createCustomers(bank: Bank, count: number): Promise<string[]> {
  const keys: string[] = []
  while (keys.length < count) {
    const batch = Math.min(CUSTOMERS_AT_ONCE, count - keys.length)
    const customers = await Promise.all(Array.from({ length: batch }, () => bank.customer(CREDIT_USD)))
    keys.push(...customers.map(({ key }) => key))
  }
  return keys
}
