/** COPY writes the same rows as INSERT, and each failure is reported: rows, races, or a lost connection. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase, type Database } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import type { UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { copyRecords, insertRecords } from '@/usage/insert-records'
import { writeUsageBatch } from '@/usage/write-batch'
import { NOON_MS, usageRecord } from './sample-records'

let database: Database
let other: Database

beforeAll(async () => {
  const url = await freshDatabase()
  database = connectDatabase(url, { maxConnections: 2 })
  other = connectDatabase(url, { maxConnections: 2 })
})
beforeEach(async () => {
  await database.sql`TRUNCATE usage_records, usage_daily`
})
afterAll(() => Promise.all([database.close(), other.close()]))

/** Whatever COPY, arrays and JSON give a meaning to. */
const text = fc.array(
  fc.constantFrom(
    'a',
    'ä',
    '漢',
    '😀',
    '\\',
    '\\N',
    '\\.',
    '\t',
    '\n',
    '\r',
    '\0',
    '"',
    ',',
    '{',
    '}',
    "'",
    ' ',
    'NULL',
  ),
  { maxLength: 8 },
)
const words = text.map((parts) => parts.join(''))
const amount = fc.integer({ min: 0, max: 9e12 })
const moment = fc.integer({ min: 0, max: 400 * 86_400_000 }).map((ms) => NOON_MS + ms)
const counts = fc.record({
  gaps: fc.constantFrom<('input_over' | 'clamped')[]>([], ['input_over'], ['input_over', 'clamped']),
  ...{ providerInput: amount, providerOutput: amount, localInput: amount, localOutput: amount },
})
const anyRecord: fc.Arbitrary<UsageRecord> = fc
  .record({
    changes: fc.record({ cost: amount, held: amount, seq: amount, atMs: moment }),
    facts: fc.record({
      ...{ requestId: words, model: words, requestedModel: words, provider: words, upstreamModel: words },
      ...{
        routeReason: words,
        stream: fc.boolean(),
        flags: fc.subarray<'estimated' | 'clamped'>(['estimated', 'clamped']),
      },
      firstTokenMs: fc.constantFrom(null, 0, 7, 9e15),
      ...{ durationMs: fc.constantFrom(0, 1.5, 9e15), startedAtMs: moment, status: fc.constantFrom(200, 499, 1e12) },
    }),
    more: fc.option(fc.record({ providerCost: amount.map(nano), counts }), { nil: undefined }),
  })
  .map(({ changes, facts, more }) => usageRecord({ ...changes, facts: { ...facts, ...more } }))

async function rows(): Promise<unknown[]> {
  return [...(await database.sql`SELECT * FROM usage_records ORDER BY event_id`)]
}

test('COPY writes the same rows as INSERT, whatever the records contain', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { minLength: 1, maxLength: 20 }), async (records) => {
      await database.sql`TRUNCATE usage_records`
      await database.sql.begin((transaction) => insertRecords(transaction, records))
      const inserted = await rows()
      await database.sql`TRUNCATE usage_records`
      expect(await database.sql.begin((transaction) => copyRecords(transaction, records))).toBe(true)
      expect(await rows()).toEqual(inserted)
      expect(inserted).toHaveLength(records.length)
    }),
    { numRuns: 60 },
  )
})

test('COPY is not used if a record may exist already, or corrects another record', async () => {
  const known = usageRecord({ holdId: 'hold_known' })
  await writeUsageBatch(database.sql, [known])
  const late = usageRecord({ recordId: 'hold_x:late', holdId: 'hold_x', kind: 'late' })
  for (const record of [{ ...known, atMs: NOON_MS + 1 }, late, usageRecord({ atMs: 1e16 })]) {
    const isCopied = await database.sql.begin((transaction) => copyRecords(transaction, [usageRecord(), record]))
    expect(isCopied).toBe(false)
  }
  expect(await rows()).toHaveLength(1)
})

/** Runs `meanwhile` while a batch waits for another writer's row of the same record. Returns the outcome of the batch. */
async function whileItWaits(record: UsageRecord, meanwhile: () => Promise<unknown>): Promise<unknown> {
  let written: Promise<unknown> = Promise.resolve()
  await other.sql.begin(async (transaction) => {
    await insertRecords(transaction, [record])
    written = writeUsageBatch(database.sql, [record, usageRecord({ holdId: 'hold_beside' })]).catch(
      (error: unknown) => error,
    )
    await until(async () => (await waiting()).length === 1, 'the copy to wait')
    await meanwhile()
  })
  return await written
}

function waiting(): Promise<{ pid: number }[]> {
  return other.sql<{ pid: number }[]>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'COPY usage_records%' AND wait_event_type = 'Lock'`
}

test('a record that two writers book is stored once, and the rest of the batch is booked', async () => {
  expect(await whileItWaits(usageRecord({ holdId: 'hold_raced' }), async () => {})).toBe(1)
  expect(await rows()).toHaveLength(2)
})

test('a connection lost during COPY counts as an unreachable database, and the next batch is booked', async () => {
  const failure = await whileItWaits(usageRecord({ holdId: 'hold_cut' }), async () => {
    const [{ pid } = { pid: 0 }] = await waiting()
    await other.sql`SELECT pg_terminate_backend(${pid})`
    await until(async () => (await waiting()).length === 0, 'the copy to end')
  })
  expect(databaseFailure(failure)).toBe('unavailable')
  expect(await writeUsageBatch(database.sql, [usageRecord({ holdId: 'hold_beside' })])).toBe(1)
  expect(await rows()).toHaveLength(2)
})
