/** The operator commands for sales: margins, and count gaps to reconcile with providers. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { usageRecord } from '@test/usage/sample-records'
import { connectDatabase, type Database } from '@/db/client'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { type Outcome, run } from './run'

const DAY_MS = 86_400_000

let redis: TestServer
let stores: Record<string, string>
let fixture: Fixture
let database: Database

beforeAll(async () => {
  redis = await startRedis()
  stores = { REDIS_URL: redis.url, DATABASE_URL: await freshDatabase() }
  fixture = await openFixture(redis.url, stores.DATABASE_URL ?? '')
  database = connectDatabase(stores.DATABASE_URL ?? '', { maxConnections: 1 })
})
afterAll(async () => {
  await database.close()
  await fixture.close()
  await redis.stop()
})

function admin(line: string): Promise<Outcome> {
  return run(line.split(' '), stores)
}

test('without sales, usage sums are zero and the margin is unknown', async () => {
  const { json } = await admin('usage margins')
  expect(json).toMatchObject({ total: { requests: 0, charged: '0', cost: null, margin: null, uncosted: '0' } })
  expect((await admin('usage gaps')).json).toEqual({ records: [], nextCursor: null })
})

test('usage margins and usage gaps show margins by model and day, and records with count gaps', async () => {
  const counts = {
    gaps: ['output_under' as const],
    providerInput: 9,
    providerOutput: 10,
    localInput: 8,
    localOutput: 900,
  }
  const now = Date.now()
  await writeUsageBatch(database.sql, [
    usageRecord({ atMs: now, cost: 3e9, facts: { providerCost: nano(1e9), counts, provider: 'provider2' } }),
    usageRecord({ atMs: now - 40 * DAY_MS, cost: 5e9, facts: { counts } }),
    usageRecord({ atMs: now - DAY_MS, cost: 1, facts: { model: 'svc/beta' } }),
  ])
  const { json } = await admin('usage margins --days 30')
  expect(json).toMatchObject({
    total: { requests: 2, charged: '3.000000001', cost: '1', margin: '2', uncosted: '0.000000001' },
    models: [{ model: 'svc/alpha' }, { model: 'svc/beta', cost: null, margin: null, uncosted: '0.000000001' }],
    days: [{ model: 'svc/alpha' }, { model: 'svc/beta' }],
  })
  const gaps = await admin('usage gaps --gap output_under --provider provider2')
  expect(gaps.json).toMatchObject({
    records: [{ at: new Date(now).toISOString(), ...counts, basis: 'provider', costUsd: '3', providerCostUsd: '1' }],
    nextCursor: null,
  })
  expect((await admin('usage gaps --days 50')).json.records).toHaveLength(2)
})

test('usage margins lists the cost of abandoned provider calls separately, by model and day', async () => {
  const thrown = { model: 'svc/gamma', status: 499, firstTokenMs: null }
  const now = Date.now()
  const records = [
    usageRecord({ atMs: now, cost: 0, facts: { ...thrown, rule: 'hangup_free', providerCost: nano(1e9) } }),
    usageRecord({ atMs: now, cost: 1e9, facts: { ...thrown, rule: 'hangup_input' } }),
    usageRecord({
      ...{ atMs: now - DAY_MS, cost: 5e9 },
      facts: { model: 'svc/gamma', providerCost: nano(3e9), outrun: { calls: 2, cost: nano(5e8) } },
    }),
    usageRecord({ atMs: now - 2 * DAY_MS, cost: 5e9, facts: { model: 'svc/gamma', providerCost: nano(3e9) } }),
  ]
  await writeUsageBatch(database.sql, records)
  // Delivered again, nothing is counted again.
  await writeUsageBatch(database.sql, records)
  const { json } = await admin('usage margins --days 30')
  const gamma = (rows: unknown) => (rows as { model: string }[]).filter(({ model }) => model === 'svc/gamma')
  expect(gamma(json.models)).toMatchObject([{ requests: 4, cost: '7', thrownAwayCalls: 4, thrownAway: '1.5' }])
  expect(gamma(json.days)).toMatchObject([
    { thrownAwayCalls: 2, thrownAway: '1' },
    { thrownAwayCalls: 2, thrownAway: '0.5' },
    { thrownAwayCalls: 0, thrownAway: '0' },
  ])
  expect(json.total).toMatchObject({ thrownAwayCalls: 4, thrownAway: '1.5' })
})

test('request show finds a failed request by its id', async () => {
  await database.sql`INSERT INTO failed_requests (request_id, account_id, key_id, failed_at, format, model, status, code, words, provider_request_id)
    VALUES ('req_failed', 'acct_1', 'key_1', now(), 'messages', 'svc/alpha', 402, 'insufficient_credit', 'Too little credit.', 'prov_1')`
  for (const id of ['req_failed', 'prov_1'])
    expect((await admin(`request show ${id}`)).json).toMatchObject({
      ...{ accountId: 'acct_1', requestId: 'req_failed', status: 402, code: 'insufficient_credit', model: 'svc/alpha' },
    })
})

test('usage refuses an invalid word or number', async () => {
  expect((await admin('usage gaps --gap odd')).stderr).toContain('--gap must be one of input_over, ')
  expect((await admin('usage margins --days 367')).stderr).toContain('--days must be an integer from 1 to 366')
  expect((await admin('usage gaps --cursor odd')).stderr).toContain('cursor')
})
