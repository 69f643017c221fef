/**
 * How the usage pages behave for one account with very many records: `bun run bench:usage` fills a real Postgres with 5,000,000
 * records of one account (`--records 500000` for fewer), measures the list under broad and narrow filters, sums, charts and
 * the export, and then what a record costs the server with and without the indexes that the lists need. Prints a table, and
 * writes usage-lists.json into bench/results/.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { migrate } from '@/db/migrate'
import { fillBooks } from './books/fill'
import { measureInsert } from './books/measure-insert'
import { measureViews } from './books/measure-views'
import { print } from './books/print'

const POSTGRES_SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', max_connections: '60' }
const OUTPUT = join(import.meta.dir, 'results', 'usage-lists.json')
const DEFAULT_RECORDS = 5_000_000

const flag = process.argv.indexOf('--records')
const records = flag === -1 ? DEFAULT_RECORDS : Number(process.argv[flag + 1])
const directory = await mkdtemp(join(tmpdir(), 'svc-usage-lists-'))
const progress = (line: string) => print(`  ${line}`)
const postgres = await startEmbeddedPostgres({ dataDir: directory, progress, settings: POSTGRES_SETTINGS })
try {
  await migrate(postgres.url)
  const filled = await fillBooks({ databaseUrl: postgres.url, redisUrl: '' }, { accounts: 1, records })
  const { views, dropIndexes } = await measureViews(postgres.url, records)
  for (const { name, milliseconds, rows } of views) print(`| ${name} | ${milliseconds.toFixed(1)} ms | ${rows} |`)
  const withIndexes = await measureInsert(postgres.url)
  await dropIndexes()
  const inserts = { withIndexes, withoutIndexes: await measureInsert(postgres.url) }
  print(JSON.stringify(inserts))
  const [processor] = cpus()
  const machine = { processor: processor?.model, cores: cpus().length, bun: Bun.version, load: loadavg()[0] }
  const result = { machine, at: new Date().toISOString(), records, ...filled, views, inserts }
  await Bun.write(OUTPUT, `${JSON.stringify(result, null, 2)}\n`)
  print(`Raw figures: ${OUTPUT}`)
} finally {
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}
process.exit(0)
