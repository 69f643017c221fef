/**
 * How the books behave as they grow: `bun run bench:books` fills a real Postgres with 1,000 accounts and 50,000 records, then
 * one with 100,000 and 5,000,000, and at each size measures `GET /v1/usage`, its history query, the flusher, the automatic
 * check, a rebuild, and what an account and a record take. Prints a table and writes bench/results/books.json. `--small` stops after the
 * first size.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { startEmbeddedRedis } from '@/boot/embedded/redis'
import { migrate } from '@/db/migrate'
import { fillBooks, type Size } from './books/fill'
import { measureFlusher } from './books/measure-flusher'
import { measureLedger } from './books/measure-ledger'
import { measureUsage } from './books/measure-usage'
import { print, printTable, type Result } from './books/print'

const SIZES: Size[] = [
  { accounts: 1_000, records: 50_000 },
  { accounts: 100_000, records: 5_000_000 },
]
/** As an operator of this size would set them; everything that makes a commit durable is as Postgres ships it. */
const POSTGRES_SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', max_connections: '60' }
const OUTPUT = join(import.meta.dir, 'results', 'books.json')

const sizes = process.argv.includes('--small') ? SIZES.slice(0, 1) : SIZES
const directory = await mkdtemp(join(tmpdir(), 'svc-books-'))
const results: Result[] = []
try {
  for (const size of sizes) results.push(await measure(size))
} finally {
  await rm(directory, { recursive: true, force: true })
}
printTable(results)
const [processor] = cpus()
const machine = { processor: processor?.model, cores: cpus().length, bun: Bun.version, at: new Date().toISOString() }
await Bun.write(OUTPUT, `${JSON.stringify({ machine, results }, null, 2)}\n`)
print(`Raw figures: ${OUTPUT}`)
process.exit(0)

async function measure(size: Size): Promise<Result> {
  const dataDir = await mkdtemp(join(directory, 'data-'))
  const progress = (line: string) => print(`  ${line}`)
  const config = { appendfsync: 'everysec' }
  const cacheDir = join(import.meta.dir, '..', '.cache')
  const postgres = await startEmbeddedPostgres({ dataDir, progress, settings: POSTGRES_SETTINGS })
  const redis = await startEmbeddedRedis({ dataDir, cacheDir, progress, config })
  try {
    await migrate(postgres.url)
    print(`${size.accounts} accounts, ${size.records} records`)
    const stores = { databaseUrl: postgres.url, redisUrl: redis.url }
    const filled = await fillBooks(stores, size)
    const usage = await measureUsage(stores, size)
    const flusher = await measureFlusher(stores, size)
    const ledger = await measureLedger(stores)
    return { ...size, load: loadavg()[0] ?? 0, ...filled, ...usage, ...flusher, ...ledger }
  } finally {
    await Promise.all([postgres.stop(), redis.stop()])
    await rm(dataDir, { recursive: true, force: true })
  }
}
