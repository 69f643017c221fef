/** Archived months leave correct books, whether they are restored, dropped, delivered again or tampered with. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { fc } from '@test/support/property'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { appendRecords } from '@test/usage/sample-records'
import { createLedgerHistory } from '@/accounts/history'
import { readBooks } from '@/console/administration/books/read-books'
import { listArchive } from '@/console/administration/usage-archive/months'
import { archiveUsage, planArchive, restoreUsage } from '@/console/administration/usage-archive/usage-archive'
import { readStatement } from '@/console/usage-views/account-statement/read-statement'
import { connectDatabase } from '@/db/client'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { UsageRecord } from '@/ledger/usage-record'
import { createFlusher } from '@/usage/flusher'
import { readMargins } from '@/usage/margins'
import { writeUsageBatch } from '@/usage/write-batch'
import { type ArchiveWorld, openArchiveWorld, recordOf } from './archive-world'

const MONTHS = ['2025-08', '2025-09', '2025-10', '2025-11', '2025-12', '2026-01'] as const
let redis: TestServer
let world: ArchiveWorld
let accountId: string
let records: UsageRecord[]

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  world = await openArchiveWorld(redis.url)
  accountId = await world.account()
  records = MONTHS.flatMap((month, index) => [
    recordOf(accountId, `${month}-01`, { cost: 100 + index, seq: 2 * index + 1 }),
    recordOf(accountId, `${month}-28`, {
      cost: 7 * index,
      seq: 2 * index + 2,
      facts: { model: 'svc/beta', status: 502 },
    }),
  ])
  await world.book(records)
})
afterEach(() => world.close())

async function archive(before: string): Promise<string[]> {
  return (await archiveUsage(world.deps, before)).map(({ month }) => month)
}

async function liveCount(): Promise<number> {
  const [row] = await world.owner.sql<{ count: number }[]>`SELECT count(*) AS count FROM usage_records`
  return row?.count ?? 0
}

describe('archiving', () => {
  test('archiving moves earlier months out of the live records, and the books add up', async () => {
    const before = await statement()
    const margins = await readMargins(world.fixture.database, 366, Date.parse('2026-02-01'))
    const year = { by: 'month', from: '2025-08-01', to: '2026-01-31' } as const
    const books = await readBooks(world.fixture.database, year)
    expect(books.periods.map(({ charged }) => charged)).toEqual([100n, 108n, 116n, 124n, 132n, 140n])
    expect(await planArchive(world.deps, '2025-11')).toMatchObject([
      { month: '2025-08', requests: 2, chargedUsd: '0.0000001' },
      { month: '2025-09', requests: 2, chargedUsd: '0.000000108' },
      { month: '2025-10', requests: 2 },
    ])
    expect(await archive('2025-11')).toEqual(['2025-08', '2025-09', '2025-10'])
    expect(await liveCount()).toBe(6)
    expect(await world.violations()).toEqual([])
    expect(await statement()).toEqual(before)
    expect(await readMargins(world.fixture.database, 366, Date.parse('2026-02-01'))).toEqual(margins)
    expect(await readBooks(world.fixture.database, year)).toEqual(books)
    expect(await listArchive(world.fixture.database)).toMatchObject([
      {
        month: '2025-08',
        state: 'archived',
        records: 2,
        accounts: 1,
        chargedUsd: '0.0000001',
        table: 'archived_usage_records_202508',
      },
      { month: '2025-09', state: 'archived' },
      { month: '2025-10', state: 'archived' },
    ])
    const entries = await world.owner
      .sql`SELECT subject, details FROM audit_entries WHERE action = 'usage.archive' ORDER BY seq`
    expect(entries).toMatchObject([{ subject: '2025-08', details: { records: 2, chargedUsd: '0.0000001' } }, {}, {}])
    expect(await archive('2025-11')).toEqual([])
    expect(await archive('2025-12')).toEqual(['2025-11'])
    expect(await world.violations()).toEqual([])
  })

  test('records that waited for their month’s table are archived with it', async () => {
    await world.add([recordOf(accountId, '2025-03-05', { cost: 3 })])
    expect(await archive('2025-09')).toEqual(['2025-03', '2025-08'])
    expect(await world.violations()).toEqual([])
  })

  test('restoring a month puts all records back, and columns and indexes', async () => {
    const shape = () => world.owner.sql`SELECT indexrelid::regclass::text AS name, inhparent::regclass::text AS parent
      FROM pg_index LEFT JOIN pg_inherits ON inhrelid = indexrelid WHERE indrelid = to_regclass('usage_records_202509') ORDER BY 1`
    const [rows, indexes] = [await allRecords(), await shape()]
    await archive('2025-11')
    expect((await restoreUsage(world.deps, '2025-09')).map(({ month }) => month)).toEqual(['2025-09', '2025-10'])
    expect(await world.violations()).toEqual([])
    expect([...(await shape())]).toEqual([...indexes])
    expect(await archive('2025-11')).toEqual(['2025-09', '2025-10'])
    await restoreUsage(world.deps, '2000-01')
    expect(await allRecords()).toEqual(rows)
    expect(await listArchive(world.owner)).toEqual([])
    expect(await world.violations()).toEqual([])
    // Nothing is closed any more.
    await writeUsageBatch(world.fixture.database.sql, [recordOf(accountId, '2025-08-09')])
    expect(await liveCount()).toBe(13)
  })

  test('for random records and months, the archive check finds no fault, and a rebuild gives the same balances', async () => {
    const charge = fc.record({
      month: fc.constantFrom(...MONTHS),
      day: fc.integer({ min: 1, max: 28 }),
      account: fc.nat(2),
      cost: fc.nat(5_000),
      kind: fc.constantFrom('settle', 'expire', 'expire and late'),
      model: fc.constantFrom('svc/alpha', 'svc/beta', 'unknown, "odd"'),
    })
    const accounts = [accountId, await world.account(), await world.account()]
    const run = fc.asyncProperty(
      fc.array(charge, { maxLength: 25 }),
      fc.constantFrom(...MONTHS),
      fc.constantFrom(...MONTHS),
      async (charges, before, from) => {
        const booked = charges.flatMap(({ month, day, account, cost, kind, model }) => {
          const record = recordOf(accounts[account] ?? '', `${month}-${String(day).padStart(2, '0')}`, {
            cost,
            facts: { model },
          })
          if (kind === 'settle') return [record]
          const late = {
            ...record,
            recordId: `${record.holdId}:late`,
            kind: 'late' as const,
            atMs: record.atMs + 86_400_000,
          }
          return [
            { ...record, kind: 'expire' as const },
            ...(kind === 'expire' ? [] : [{ ...late, flags: ['late' as const] }]),
          ]
        })
        await world.book(booked)
        await rebuildAll({ ...world.fixture, logger: silentLogger })
        const balances = await balancesOf(accounts)
        await archive(before)
        expect(await world.violations()).toEqual([])
        expect(await writeUsageBatch(world.fixture.database.sql, booked)).toBe(0)
        await rebuildAll({ ...world.fixture, logger: silentLogger })
        expect(await balancesOf(accounts)).toEqual(balances)
        await restoreUsage(world.deps, from)
        expect(await world.violations()).toEqual([])
        await restoreUsage(world.deps, '2000-01')
        expect(await world.violations()).toEqual([])
      },
    )
    await fc.assert(run, { numRuns: 8 })
  })

  test('archiving continues and finishes while records are booked and read', async () => {
    const flusher = createFlusher({
      redis: world.fixture.redis,
      connect: () => connectDatabase(world.gatewayUrl, { maxConnections: 1 }),
      logger: silentLogger,
      lingerMs: 5,
      sweepMs: 20,
    })
    flusher.start()
    const state = { isDone: false }
    const sent: UsageRecord[] = []
    // With the patience of a gateway.
    const history = createLedgerHistory(world.fixture.database)
    const traffic = (async () => {
      while (!state.isDone) {
        const batch = Array.from({ length: 20 }, () => recordOf(accountId, '2026-01-20', { cost: 1, atMs: Date.now() }))
        sent.push(...batch)
        await appendRecords(world.fixture.redis, batch)
        await history.knownRecordIds([records[0]?.recordId ?? '', batch[0]?.recordId ?? ''])
      }
    })()
    traffic.catch(() => undefined)
    // A reader of all records, as a dump is, that outlasts many batches.
    const reader = world.superuser.sql.begin(async (transaction) => {
      await transaction`SELECT count(*) FROM usage_records`
      await until(() => sent.length >= 400, 'twenty batches')
    })
    try {
      expect(await archive('2026-01')).toHaveLength(5)
    } finally {
      state.isDone = true
      await Promise.all([traffic, reader])
    }
    await until(async () => (await liveCount()) === sent.length + 2)
    await flusher.stop()
    expect(flusher.status()).toMatchObject({ deadLetters: 0, insertedRecords: sent.length })
    await rebuildAll({ ...world.fixture, logger: silentLogger })
    expect(await world.violations()).toEqual([])
  })
})

async function statement() {
  const period = { accountId, from: '2025-08-01', to: '2026-01-31' }
  return await readStatement(world.fixture.database, silentLogger, period, { limit: 100 })
}

async function allRecords(): Promise<unknown[]> {
  return [...(await world.owner.sql`SELECT to_jsonb(r) AS record FROM usage_records r ORDER BY event_id`)]
}

async function balancesOf(accountIds: readonly string[]): Promise<unknown[]> {
  const balances = await Promise.all(accountIds.map((id) => world.fixture.ledger.readBalance(id)))
  return balances.map((balance) => balance && [balance.available, balance.held, balance.spent])
}
