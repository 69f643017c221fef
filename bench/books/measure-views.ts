/** Measures what the usage pages ask for, of the one account that has all records, with matches that are many, few and none. */

import { usageRecord } from '@test/usage/sample-records'
import { EXPORT_FORMATS, exportRecords } from '@/console/usage-views/export-records'
import { readChoices } from '@/console/usage-views/filter-choices'
import { searchRecords } from '@/console/usage-views/record-search'
import { sumRecords } from '@/console/usage-views/record-totals'
import type { UsageFilter } from '@/console/usage-views/usage-filter'
import { readSeries } from '@/console/usage-views/usage-series'
import { connectDatabase, type Database } from '@/db/client'
import type { UsageRecord } from '@/ledger/usage-record'
import { type Dimension, readUsageReport } from '@/usage/usage-report'
import { writeUsageBatch } from '@/usage/write-batch'
import { accountIdOf } from './fill'
import { percentile } from './print'

type ViewFigure = { name: string; milliseconds: number; rows: number }

/** More than the five after which the server may settle on one plan for all values. */
const REPEATS = 9
const DAY_MS = 86_400_000
const DAYS = 46
/** One record a day of a key and of a model that nothing else uses, and some that did not go well. */
const RARE: readonly Partial<UsageRecord['facts']>[] = [
  { model: 'svc/rare' },
  { model: 'svc/model-1', status: 499, rule: 'disconnect_usage' },
  { model: 'svc/model-1', flags: ['clamped'] },
]

/** The median of some runs each, on one connection; `dropIndexes` takes away the indexes that only these views need. */
export async function measureViews(databaseUrl: string, records: number) {
  const database = connectDatabase(databaseUrl, { maxConnections: 1, statementTimeoutMs: 0 })
  await addRareRecords(database)
  const nowMs = Date.now()
  const all: UsageFilter = { accountId: accountIdOf(0), fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs + DAY_MS }
  const filters: [string, Partial<UsageFilter>][] = [
    ['everything', {}],
    ['a model that answered a quarter', { model: 'svc/model-1' }],
    ['a key used once a day', { keyId: 'key_rare' }],
    ['a model used once a day', { model: 'svc/rare' }],
    ['a model never used', { model: 'svc/none' }],
    ['errors', { status: 'error' }],
    ['a flag that is rare', { flag: 'clamped' }],
    ['a flag that never occurred', { flag: 'forced' }],
    ['asked for what nobody asked for', { requestedModel: 'svc/none' }],
    ['a tag of every twentieth', { tag: 'team=1' }],
    ['a tag that nobody said', { tag: 'team=none' }],
  ]
  const views: ViewFigure[] = []
  for (const [name, part] of filters) {
    const filter = { ...all, ...part }
    views.push(
      await time(
        `first page: ${name}`,
        async () => (await searchRecords(database, filter, { limit: 50 })).records.length,
      ),
    )
    views.push(await time(`sums: ${name}`, async () => (await sumRecords(database, filter)).requests))
  }
  const recent = { ...all, fromMs: nowMs - 3 * DAY_MS, toMs: nowMs }
  views.push(
    await time('chart of 46 days by model', async () => (await readSeries(database, all, 'model')).points.length),
  )
  views.push(
    await time('chart of 46 days by outcome', async () => (await readSeries(database, all, 'status')).points.length),
  )
  views.push(
    await time('chart of 3 days by the hour', async () => (await readSeries(database, recent, 'model')).points.length),
  )
  views.push(await time('chart of 46 days by tags', async () => (await readSeries(database, all, 'tag')).points.length))
  views.push(await time('what to filter by', async () => (await readChoices(database, all)).tags.length))
  views.push(...(await timeReports(database, nowMs)))
  views.push(await timeExport(database, all, records))
  return {
    views,
    async dropIndexes() {
      await database.sql`DROP INDEX usage_records_cell_index`
      await database.sql`DROP INDEX usage_records_noteworthy_index`
      await database.close()
    },
  }
}

/** Of the oldest days, which are full however few records there are. */
async function timeReports(database: Database, nowMs: number): Promise<ViewFigure[]> {
  const day = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)
  const from = day(nowMs - DAYS * DAY_MS)
  const search = { accountId: accountIdOf(0), from }
  const reports: [name: string, to: string, by: Dimension[]][] = [
    ['report of all days by day, key and model', day(nowMs), ['day', 'key', 'model']],
    ['report of 3 days by one tag and model', day(Date.parse(from) + 2 * DAY_MS), ['tag:team', 'model']],
    ['report of 3 days by day, tags and app', day(Date.parse(from) + 2 * DAY_MS), ['day', 'tag', 'app']],
  ]
  const figures: ViewFigure[] = []
  for (const [name, to, by] of reports) {
    figures.push(await time(name, async () => (await readUsageReport(database, { ...search, to, by })).rows.length))
  }
  return figures
}

async function addRareRecords({ sql }: Database): Promise<void> {
  const records = Array.from({ length: DAYS * RARE.length }, (_, index) =>
    usageRecord({
      ...{ accountId: accountIdOf(0), keyId: 'key_rare', seq: index + 1 },
      atMs: Date.now() - Math.floor(index / RARE.length) * DAY_MS,
      facts: RARE[index % RARE.length] ?? {},
    }),
  )
  await writeUsageBatch(sql, records)
  await sql`VACUUM (ANALYZE) usage_daily`
}

async function time(name: string, run: () => Promise<number>): Promise<ViewFigure> {
  const times: number[] = []
  let rows = 0
  for (let index = 0; index < REPEATS; index++) {
    const startedMs = performance.now()
    rows = await run()
    times.push(performance.now() - startedMs)
  }
  return { name, milliseconds: percentile(times, 0.5), rows }
}

/** The rate of a long file, from its first hundred thousand rows. */
async function timeExport(database: Database, filter: UsageFilter, records: number): Promise<ViewFigure> {
  const wanted = Math.min(100_000, records)
  const startedMs = performance.now()
  const reader = exportRecords(
    (page) => searchRecords(database, filter, page),
    EXPORT_FORMATS.csv,
    () => undefined,
  ).getReader()
  let rows = 0
  while (rows < wanted) {
    const { value, done } = await reader.read()
    if (done) break
    for (const byte of value) if (byte === 0x0a) rows += 1
  }
  await reader.cancel()
  return { name: 'export, rows', milliseconds: performance.now() - startedMs, rows }
}
