/** Charged idempotency keys in Postgres: kept for a day, with the record that was charged last. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase, type Database } from '@/db/client'
import { parseUsageRecord } from '@/ledger/usage-record'
import { sha256Hex } from '@/lib/ids'
import { findChargedRequest } from '@/usage/charged-keys'
import { writeUsageBatch } from '@/usage/write-batch'
import { type RecordChanges, streamFields, usageRecord } from './sample-records'

const HOUR_MS = 3_600_000
let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 2 })
  await database.sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'One', 'one@example.test')`
})
afterAll(() => database.close())

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
