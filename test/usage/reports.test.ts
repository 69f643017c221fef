/** The figures of GET /v1/usage: correct up to the last settled request, with or without Postgres. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { testPreparedBy } from '@test/ledger/accounts/within-day'
import { freshDatabase, redisUrl, startPostgres } from '@test/support/stores'
import { until } from '@test/support/until'
import { sightOfKey } from '@/accounts/members/memberships'
import { connectDatabase, type Database } from '@/db/client'
import { migrate } from '@/db/migrate'
import { nano } from '@/lib/money'
import { createFlusher } from '@/usage/flusher'
import { createReports } from '@/usage/reports'
import { writeUsageBatch } from '@/usage/write-batch'
import { usageRecord } from './sample-records'

let fixture: Fixture
let databaseAddress: string
let accountId: string
let keyId: string

beforeAll(async () => {
  databaseAddress = await freshDatabase()
  fixture = await openFixture(await redisUrl(), databaseAddress)
})
beforeEach(makeCustomer)
afterAll(() => fixture.close())

async function makeCustomer(): Promise<void> {
  accountId = await createTestAccount(fixture, 'Grace "Amazing" Hopper')
  await fixture.credits.addCredit({ accountId, amount: nano(10_000_000_000), reference: 'first' })
  const key = await fixture.apiKeys.create({ accountId, name: 'k' })
  if (key.kind !== 'created') throw new Error(key.kind)
  keyId = key.keyId
}

const test = testPreparedBy(makeCustomer)

describe('usageSummary', () => {
  test('usageSummary of a new account has the credit and no usage', async () => {
    expect(await summary()).toEqual({
      ...{ credits_remaining: 10, credits_used: 0, usage_this_month: 0 },
      ...{ customer: { name: 'Grace "Amazing" Hopper', credits: 10 }, recentUsage: [] },
    })
  })

  test('usageSummary has a settled request at once, before Postgres does', async () => {
    const beganMs = Date.now()
    await settle('one', 1_500_000)
    expect(await summary()).toEqual({
      ...{ credits_remaining: 9.9985, credits_used: 0.0015, usage_this_month: 0.0015 },
      customer: { name: 'Grace "Amazing" Hopper', credits: 9.9985 },
      recentUsage: [
        ...[{ model: 'svc/alpha', inputTokens: 127, outputTokens: 50, credits: 0.0015, createdAt: expect.any(String) }],
      ],
    })
    const createdAt = (await summary())?.recentUsage[0]?.createdAt ?? ''
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(createdAt)).toBeWithin(beganMs, Date.now() + 1)
  })

  test('usageSummary counts held credit as remaining', async () => {
    await reserve('open', 4_000_000_000)
    expect(await summary()).toMatchObject({ credits_remaining: 10, credits_used: 0 })
  })

  test('usageSummary lists each request once, at most 50, newest first', async () => {
    for (let index = 0; index < 30; index++) await settle(`a${index}`, index + 1)
    await flushed()
    for (let index = 30; index < 45; index++) await settle(`a${index}`, index + 1)
    const costs = async () => (await summary())?.recentUsage.map((entry) => Math.round(entry.credits * 1e9))
    expect(await costs()).toEqual(Array.from({ length: 45 }, (_, index) => 45 - index))
    for (let index = 45; index < 60; index++) await settle(`a${index}`, index + 1)
    await flushed()
    expect(await costs()).toEqual(Array.from({ length: 50 }, (_, index) => 60 - index))
  })

  test('usageSummary reads the list from Postgres if Redis has lost it', async () => {
    for (let index = 0; index < 5; index++) await settle(`b${index}`, index + 1)
    await flushed()
    const entries = (await summary())?.recentUsage ?? []
    expect(entries.map((entry) => Math.round(entry.credits * 1e9))).toEqual([5, 4, 3, 2, 1])
    expect(entries[0]).toMatchObject({ model: 'svc/alpha', inputTokens: 127, outputTokens: 50 })
  })

  test('usageSummary of an unknown account is undefined', async () => {
    expect(await reportsOf(fixture.database).usageSummary({ accountId: 'acct_none', keyId })).toBeUndefined()
  })

  test('without Postgres usageSummary has exact figures, and the last known name and rights', async () => {
    const server = await startPostgres()
    await migrate(server.url)
    const other = connectDatabase(server.url, { maxConnections: 2 })
    await copyAccount(other)
    const reports = reportsOf(other)
    const freshReports = reportsOf(other)
    await writeUsageBatch(other.sql, [usageRecord({ accountId, cost: 3 })])
    expect((await reports.usageSummary({ accountId, keyId }))?.recentUsage).toHaveLength(1)
    await server.kill()
    try {
      await settle('while down', 2_000_000_000)
      const expected = { credits_remaining: 8, credits_used: 2, usage_this_month: 2 }
      expect(await reports.usageSummary({ accountId, keyId })).toMatchObject({
        ...expected,
        customer: { name: 'Grace "Amazing" Hopper', credits: 8 },
        recentUsage: [{ credits: 2 }],
      })
      // Nobody can say whose key it is.
      const untold = { credits_remaining: null, credits_used: null, usage_this_month: null }
      expect(await freshReports.usageSummary({ accountId, keyId })).toEqual({
        ...{ ...untold, customer: { name: '', credits: null }, recentUsage: [] },
      })
    } finally {
      await other.close(0)
      await server.stop()
    }
  })
})

function reportsOf(database: Database) {
  return createReports(database, fixture.ledger, (key) => sightOfKey(database, key))
}

async function summary() {
  return await reportsOf(fixture.database).usageSummary({ accountId, keyId })
}

async function reserve(name: string, amount: number): Promise<string> {
  const holdId = `${name.replaceAll(' ', '_')}_${keyId}`
  const outcome = await fixture.ledger.reserve({
    ...{ accountId, keyId, holdId, amount: nano(amount), inputCost: nano(0) },
    ...{ tokens: 1, ttlMs: 60_000, facts: usageRecord().facts },
  })
  expect(outcome.kind).toBe('reserved')
  return holdId
}

async function settle(name: string, cost: number): Promise<void> {
  const holdId = await reserve(name, cost)
  const { facts } = usageRecord()
  const outcome = await fixture.ledger.settle({ accountId, keyId, holdId, cost: nano(cost), tokens: 1, facts })
  expect(outcome.kind).toBe('settled')
}

async function flushed(): Promise<void> {
  const { redis, ledger } = fixture
  const flusher = createFlusher({ redis, connect: () => connectDatabase(databaseAddress), logger: silentLogger })
  flusher.start()
  await until(async () => (await ledger.unsyncedRecordCount()) === 0, 'the streams to be empty')
  await flusher.stop()
}

async function copyAccount(other: Database): Promise<void> {
  await other.sql`INSERT INTO accounts (id, name, email) VALUES (${accountId}, 'Grace "Amazing" Hopper', 'grace@example.test')`
  await other.sql`INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
    VALUES (${keyId}, ${accountId}, 'k', ${'0'.repeat(64)}, 'svc-', '0000')`
}
