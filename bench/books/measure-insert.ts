/** What one record costs the history's server: processor time and write-ahead log, which other work on the machine hardly changes. */
import { usageRecord } from '@test/usage/sample-records'
import { connectDatabase } from '@/db/client'
import { writeUsageBatch } from '@/usage/write-batch'
import { accountIdOf, keyIdOf } from './fill'

type InsertFigures = { serverMicrosPerRecord: number; walBytesPerRecord: number }

const BATCHES = 60
const BATCH_SIZE = 2_000
const ACCOUNTS = 1_000
/** Linux counts processor time in hundredths of a second. */
const TICK_MICROS = 10_000

/** Writes records of many accounts as the flusher does, in batches. */
export async function measureInsert(databaseUrl: string): Promise<InsertFigures> {
  const database = connectDatabase(databaseUrl, { maxConnections: 1, statementTimeoutMs: 0 })
  const { sql } = database
  const [backend] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
  const position = async () => (await sql<[{ at: number }]>`SELECT (pg_current_wal_lsn() - '0/0')::bigint AS at`)[0].at
  await writeUsageBatch(sql, makeBatch())
  const [ticks, bytes] = [await ticksOf(backend.pid), await position()]
  for (let batch = 0; batch < BATCHES; batch++) await writeUsageBatch(sql, makeBatch())
  const records = BATCHES * BATCH_SIZE
  const figures = {
    serverMicrosPerRecord: (((await ticksOf(backend.pid)) - ticks) * TICK_MICROS) / records,
    walBytesPerRecord: ((await position()) - bytes) / records,
  }
  await database.close()
  return figures
}

function makeBatch() {
  return Array.from({ length: BATCH_SIZE }, () => {
    const number = Math.floor(Math.random() * ACCOUNTS)
    return usageRecord({ accountId: accountIdOf(number), keyId: keyIdOf(number), atMs: Date.now() })
  })
}

/** User and system time of a process, in hundredths of a second. */
async function ticksOf(pid: number): Promise<number> {
  const fields = (await Bun.file(`/proc/${pid}/stat`).text()).split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}
