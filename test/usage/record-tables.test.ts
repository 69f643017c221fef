/** Tables of usage records: COPY and its failures, charged idempotency keys, and partitions. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase, type Database } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import { parseUsageRecord, type UsageRecord } from '@/ledger/usage-record'
import { sha256Hex } from '@/lib/ids'
import { nano } from '@/lib/money'
import { findChargedRequest } from '@/usage/charged-keys'
import { copyRecords, insertRecords } from '@/usage/insert-records'
import { ensurePartitions } from '@/usage/partitions'
import { writeUsageBatch } from '@/usage/write-batch'
import { NOON_MS, type RecordChanges, streamFields, usageRecord } from './sample-records'

const HOUR_MS = 3_600_000

let url: string
let database: Database
let other: Database

beforeAll(async () => {
  url = await freshDatabase()
  database = connectDatabase(url, { maxConnections: 2 })
  other = connectDatabase(url, { maxConnections: 2 })
  await database.sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'One', 'one@example.test')`
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
    { numRuns: 30 },
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

function named(name: string, requestId: string, changes: RecordChanges = {}) {
  const facts = { ...changes.facts, requestId, idempotencyKey: sha256Hex(name) }
  return usageRecord({ atMs: Date.now(), holdId: requestId, ...changes, facts })
}

const find = (name: string) => findChargedRequest(database.sql, 'acct_1', sha256Hex(name))

test('charged idempotency keys can be looked up for a day, by their own account', async () => {
  const late = { kind: 'late', recordId: 'late:late', holdId: 'late' } as const
  const records = [
    named('charged', 'charged'),
    named('free', 'free', { cost: 0 }),
    named('late', 'late', late),
    named('yesterday', 'yesterday', { atMs: Date.now() - 25 * HOUR_MS }),
    usageRecord({ atMs: Date.now() }),
  ]
  expect(await writeUsageBatch(database.sql, records)).toBe(records.length)
  expect(await find('charged')).toEqual({ requestId: 'charged', keyId: 'key_1' })
  expect(await find('late')).toEqual({ requestId: 'late', keyId: 'key_1' })
  for (const name of ['free', 'yesterday', 'unknown']) expect(await find(name)).toBeUndefined()
  expect(await findChargedRequest(database.sql, 'acct_2', sha256Hex('charged'))).toBeUndefined()
})

test('if an idempotency key was charged several times, its last record is found, in any order of booking', async () => {
  const first = named('twice', 'first', { atMs: Date.now() - 2 * HOUR_MS })
  const last = named('twice', 'last')
  const between = named('twice', 'between', { atMs: Date.now() - HOUR_MS })
  await writeUsageBatch(database.sql, [first, last])
  await writeUsageBatch(database.sql, [between])
  expect(await find('twice')).toMatchObject({ requestId: 'last' })
})

test('idempotency keys older than a day are deleted when new ones are booked', async () => {
  const day = { atMs: Date.now() - 25 * HOUR_MS }
  await writeUsageBatch(database.sql, [named('old-1', 'old-1', day), named('old-2', 'old-2', day)])
  await writeUsageBatch(database.sql, [named('new', 'new')])
  const rows = await database.sql`SELECT FROM charged_idempotency_keys WHERE charged_at < now() - interval '24 hours'`
  expect(rows).toHaveLength(0)
})

test('a record has the hash of its idempotency key, and no other part of it', () => {
  const record = named('charged', 'charged')
  expect(parseUsageRecord(streamFields(record))).toEqual(record)
  const broken = named('charged', 'charged', { facts: {} })
  broken.facts.idempotencyKey = 'charged'
  expect(parseUsageRecord(streamFields(broken))).toBeUndefined()
})

test('creating partitions does not wait for a dump, and look-ups continue', async () => {
  const [maker, dump, others] = [1, 1, 2].map((maxConnections) => connectDatabase(url, { maxConnections }))
  if (!maker || !dump || !others) throw new Error('three clients')
  const isWaiting = async () => {
    const rows =
      await others.sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'usage_records_default'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    return rows.length > 0
  }
  try {
    let later: number | undefined
    await dump.sql.begin(async (transaction) => {
      await transaction`SELECT count(*) FROM usage_records`
      const made = ensurePartitions(maker.sql, silentLogger)
      await until(isWaiting)
      // Ends only because the maker gives up: the dump goes on until after it.
      expect(await others.sql`SELECT FROM usage_records WHERE event_id = 'none'`).toHaveLength(0)
      later = await made
    })
    expect(later).toBe(60_000)
    expect(await ensurePartitions(maker.sql, silentLogger)).toBe(3_600_000)
  } finally {
    await Promise.all([maker, dump, others].map((client) => client.close()))
  }
})
