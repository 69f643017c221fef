/** The usage list and its sums, compared with a plain list in memory: any records, filter and page size. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { madeUpFilter, madeUpRecords, matching, sumsOf } from '@test/usage/made-up-usage'
import { NOON_MS, usageRecord } from '@test/usage/sample-records'
import { searchRecords } from '@/console/usage-views/record-search'
import { sumRecords } from '@/console/usage-views/record-totals'
import type { UsageFilter } from '@/console/usage-views/usage-filter'
import { readSeries, SERIES_GROUPS, type SeriesGroup } from '@/console/usage-views/usage-series'
import { connectDatabase, type Database } from '@/db/client'
import type { UsageRecord } from '@/ledger/usage-record'
import { writeUsageBatch } from '@/usage/write-batch'

const RUNS = 30
const FILTERS_PER_RUN = 6
let database: Database
let accountCount = 0

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 2 })
})
afterAll(() => database.close(0))

/** Writes made-up records of a new account, beside one of another account, and checks `property` with several filters. */
async function forAny(check: (records: UsageRecord[], filter: UsageFilter, pageSize: number) => Promise<void>) {
  const drafts = fc.tuple(
    madeUpRecords(''),
    fc.array(fc.tuple(madeUpFilter(''), fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
      maxLength: FILTERS_PER_RUN,
    }),
  )
  await fc.assert(
    fc.asyncProperty(drafts, async ([made, filters]) => {
      const accountId = `acct_made_up_${++accountCount}`
      const records = made.map((record) => ({ ...record, accountId }))
      const other = usageRecord({ accountId: `${accountId}_other`, keyId: 'key_a', atMs: NOON_MS })
      await writeUsageBatch(database.sql, [...records, other])
      for (const [filter, pageSize] of filters) await check(records, { ...filter, accountId }, pageSize)
    }),
    { numRuns: RUNS },
  )
}

async function allPages(filter: UsageFilter, limit: number, windowSize?: number): Promise<string[]> {
  const ids: string[] = []
  for (let after: Parameters<typeof searchRecords>[2]['after']; ; ) {
    const page = await searchRecords(database, filter, { after, limit, ...(windowSize && { windowSize }) })
    expect(page.records.length).toBeLessThanOrEqual(limit)
    ids.push(...page.records.map((record) => record.recordId))
    if (!page.next) return ids
    after = page.next
  }
}

describe('searchRecords', () => {
  test('searchRecords pages through exactly the matching records, newest first', async () => {
    await forAny(async (records, filter, pageSize) => {
      const expected = matching(records, filter).map((record) => record.recordId)
      expect(await allPages(filter, pageSize)).toEqual(expected)
      // Also where one look reads only a few records.
      expect(await allPages(filter, pageSize, pageSize)).toEqual(expected)
    })
  })

  test('searchRecords stops at its time limit, and reports how far it has searched', async () => {
    const accountId = 'acct_slow'
    const records = Array.from({ length: 30 }, (_, index) =>
      usageRecord({ accountId, seq: index + 1, atMs: NOON_MS - (index % 10) * 86_400_000, keyId: `key_${index % 3}` }),
    )
    await writeUsageBatch(database.sql, records)
    const filter = { accountId, fromMs: 0, toMs: NOON_MS + 1, keyId: 'key_1' }
    const ids: string[] = []
    let partial = 0
    for (let after: Parameters<typeof searchRecords>[2]['after']; ; ) {
      const page = await searchRecords(database, filter, { after, limit: 50, budgetMs: 0 })
      ids.push(...page.records.map((record) => record.recordId))
      if (!page.next) break
      expect(page.searchedToMs).toBeNumber()
      partial += 1
      after = page.next
    }
    expect(ids).toEqual(matching(records, filter).map((record) => record.recordId))
    expect(partial).toBeGreaterThan(0)
  })

  test('searchRecords finds the records of a day with very many keys', async () => {
    const accountId = 'acct_many_keys'
    const records = Array.from({ length: 300 }, (_, index) =>
      usageRecord({ accountId, keyId: `key_${index}`, seq: index + 1, atMs: NOON_MS - index * 60_000 }),
    )
    await writeUsageBatch(database.sql, records)
    const filter = { accountId, fromMs: 0, toMs: NOON_MS + 1, model: 'svc/alpha' }
    expect(await allPages(filter, 25, 40)).toEqual(matching(records, filter).map((record) => record.recordId))
  })
})

describe('searchRecords by model over many keys and days', () => {
  test('searchRecords reads the daily sums of many keys in several steps', async () => {
    const accountId = 'acct_many_cells'
    const [keys, days] = [60, 45]
    const records = Array.from({ length: keys * days }, (_, index) =>
      usageRecord({
        ...{ accountId, keyId: `key_${index % keys}`, seq: index + 1 },
        atMs: NOON_MS - Math.floor(index / keys) * DAY_MS + (index % 7),
      }),
    )
    await writeUsageBatch(database.sql, records)
    const filter = { accountId, fromMs: 0, toMs: NOON_MS + DAY_MS, model: 'svc/alpha' }
    expect(await allPages(filter, 700)).toEqual(matching(records, filter).map((record) => record.recordId))
  })
})

describe('sumRecords', () => {
  test('sumRecords adds up exactly the matches, to the nano-USD', async () => {
    await forAny(async (records, filter) => {
      const { isComplete, archivedBeforeMs, ...sums } = await sumRecords(database, filter)
      expect(sums).toEqual(sumsOf(matching(records, filter)) as typeof sums)
      expect({ isComplete, archivedBeforeMs }).toEqual({ isComplete: true, archivedBeforeMs: null })
    })
  })
})

describe('readSeries', () => {
  test('readSeries splits sums by hour or day exactly, for any group', async () => {
    await forAny(async (records, filter) => {
      for (const group of SERIES_GROUPS) {
        const series = await readSeries(database, filter, group)
        const whole = series.step === 'hour' ? filter : wholeDays(filter)
        const expected = new Map<string, { cost: number; requests: number }>()
        for (const record of matching(records, whole)) {
          const name = `${bucketOf(record.atMs, series.step)} ${groupOf(record, group)}`
          const point = expected.get(name) ?? { cost: 0, requests: 0 }
          point.cost += record.cost
          if (record.kind !== 'late') point.requests += 1
          expected.set(name, point)
        }
        const seen = series.points.map(({ atMs, group: label, cost, requests }) => [
          `${atMs} ${label}`,
          { cost, requests },
        ])
        const isEmpty = ({ cost, requests }: { cost: number; requests: number }) => cost === 0 && requests === 0
        const entries = [...expected].filter(([, point]) => !isEmpty(point))
        expect(Object.fromEntries(seen)).toMatchObject(Object.fromEntries(entries))
        expect(series.points.filter((point) => !isEmpty(point))).toHaveLength(entries.length)
      }
    })
  })
})

const DAY_MS = 86_400_000

function wholeDays(filter: UsageFilter): UsageFilter {
  const { fromMs, toMs } = filter
  return { ...filter, fromMs: Math.floor(fromMs / DAY_MS) * DAY_MS, toMs: Math.ceil(toMs / DAY_MS) * DAY_MS }
}

function bucketOf(atMs: number, step: 'hour' | 'day'): number {
  const length = step === 'hour' ? 3_600_000 : DAY_MS
  return Math.floor(atMs / length) * length
}

function groupOf(record: UsageRecord, group: SeriesGroup): string {
  if (group === 'member') return record.memberId ?? ''
  if (group === 'app') return record.facts.labels?.app ?? ''
  if (group === 'tag') return (record.facts.labels?.tags ?? []).join(', ')
  if (group === 'model') return record.facts.model
  if (group === 'key') return record.keyId
  if (record.facts.status === 499) return 'left'
  return record.facts.status >= 400 ? 'error' : 'ok'
}
