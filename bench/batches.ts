/**
 * What a usage record costs its flusher, in processor time and log volume: figures that other work on the machine disturbs
 * less than rates. `bun bench/batches.ts [accounts]` writes batches of usage records of accounts drawn at random (100,000 unless
 * said) into a real Postgres with durable commits.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageRecord } from '@test/usage/sample-records'
import type { Sql } from 'postgres'
import { startEmbeddedPostgres } from '@/boot/embedded/postgres'
import { connectDatabase } from '@/db/client'
import { migrate } from '@/db/migrate'
import { newRequestId } from '@/http/request-id'
import type { UsageRecord } from '@/ledger/usage-record'
import { writeUsageBatch } from '@/usage/write-batch'
import { accountIdOf, insertAccounts, keyIdOf } from './books/fill'
import { print } from './books/print'

const BATCH = 8_000
const WARM_UP_BATCHES = 2
const BATCHES = 5
const TICKS_PER_SECOND = 100

const accounts = Number(process.argv[2] ?? 100_000)
const dataDir = await mkdtemp(join(tmpdir(), 'svc-batches-'))
const postgres = await startEmbeddedPostgres({ dataDir, progress: print, settings: { shared_buffers: '1GB' } })
await migrate(postgres.url)
const database = connectDatabase(postgres.url, { maxConnections: 1, statementTimeoutMs: 0 })
const { sql } = database
await sql`SELECT ensure_usage_partitions(now()::date, 2)`
await insertAccounts(database, accounts)
await sql`ANALYZE`
await sql`CHECKPOINT`
for (let batch = 0; batch < WARM_UP_BATCHES; batch++) await writeUsageBatch(sql, recordsOf(batch))
const batches = Array.from({ length: BATCHES }, (_, batch) => recordsOf(WARM_UP_BATCHES + batch))
const before = { server: await serverUse(sql), own: process.cpuUsage(), atMs: performance.now() }
for (const batch of batches) await writeUsageBatch(sql, batch)
const own = process.cpuUsage(before.own)
const seconds = (performance.now() - before.atMs) / 1000
const server = await serverUse(sql)
const records = BATCH * BATCHES
print(`${records} records on ${accounts} accounts at ${Math.round(records / seconds)}/s; per record:`)
print(`  Postgres ${(((server.cpuSeconds - before.server.cpuSeconds) / records) * 1e6).toFixed(1)} µs`)
print(`  this process ${((own.user + own.system) / records).toFixed(1)} µs`)
print(`  log ${Math.round((server.logBytes - before.server.logBytes) / records)} bytes`)
await database.close()
await postgres.stop()
await rm(dataDir, { recursive: true, force: true })
process.exit(0)

function recordsOf(batch: number): UsageRecord[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const owner = Math.floor(Math.random() * accounts)
    const holdId = newRequestId()
    const payer = { accountId: accountIdOf(owner), keyId: keyIdOf(owner) }
    return usageRecord({
      ...payer,
      holdId,
      seq: batch * BATCH + index + 1,
      atMs: Date.now(),
      facts: { requestId: holdId },
    })
  })
}

/** Processor time of the one connection's process, and bytes written to the log, both since the start. */
async function serverUse(sql: Sql): Promise<{ cpuSeconds: number; logBytes: number }> {
  const [row] = await sql<{ pid: number; bytes: number }[]>`
    SELECT pg_backend_pid() AS pid, (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS bytes`
  const [, fields = ''] = (await Bun.file(`/proc/${row?.pid}/stat`).text()).split(') ')
  const [userTicks = 0, systemTicks = 0] = fields.split(' ').slice(11, 13).map(Number)
  return { cpuSeconds: (userTicks + systemTicks) / TICKS_PER_SECOND, logBytes: row?.bytes ?? 0 }
}
