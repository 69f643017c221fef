/** The usage report compared with a plain list in memory: its rows add up to the statement, by any dimension, to the nano-USD. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { readSeries } from '@/console/usage-views/usage-series'
import { connectDatabase, type Database } from '@/db/client'
import type { UsageRecord } from '@/ledger/usage-record'
import { type Dimension, readUsageReport } from '@/usage/usage-report'
import { writeUsageBatch } from '@/usage/write-batch'
import { madeUpRecords, sumsOf } from './made-up-usage'
import { NOON_MS, usageRecord } from './sample-records'

const DAY_MS = 86_400_000
const RUNS = 60
const DIMENSIONS: Dimension[] = ['day', 'member', 'key', 'model', 'tag', 'app', 'provider', 'tag:team', 'tag:none']
const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)

let database: Database
let accountCount = 0

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 2 })
})
afterAll(() => database.close(0))

/** What a record says of itself, the simple way. */
function placeOf({ keyId, memberId, atMs, facts }: UsageRecord, dimension: Dimension): string | null {
  const { tags, app } = facts.labels ?? {}
  if (dimension.startsWith('tag:')) {
    const start = `${dimension.slice(4)}=`
    return tags?.find((tag) => tag.startsWith(start))?.slice(start.length) ?? null
  }
  const places: Partial<Record<Dimension, string | null | undefined>> = {
    ...{ day: dayOf(atMs), member: memberId, key: keyId, model: facts.model, app, provider: facts.provider },
    tag: tags?.length ? tags.join(',') : null,
  }
  return places[dimension] ?? null
}

/** What the account statement says was spent. */
async function statementOf(accountId: string, from: string, to: string): Promise<number> {
  const [row] = await database.sql<
    { spent: number }[]
  >`SELECT coalesce(sum(cost_nano), 0)::bigint AS spent FROM usage_daily
    WHERE account_id = ${accountId} AND day BETWEEN ${from}::text::date AND ${to}::text::date`
  return row?.spent ?? Number.NaN
}

const day = fc.integer({ min: -10, max: 1 }).map((days) => dayOf(NOON_MS + days * DAY_MS))
const sought = fc.record({
  days: fc.tuple(day, day).map((days) => days.toSorted()),
  by: fc.uniqueArray(fc.constantFrom(...DIMENSIONS), { minLength: 1, maxLength: 3 }),
})

test('for random records, a report has each record once, by any dimension', async () => {
  await fc.assert(
    fc.asyncProperty(madeUpRecords(''), fc.array(sought, { minLength: 1, maxLength: 6 }), async (made, searches) => {
      const accountId = `acct_report_${++accountCount}`
      const records = made.map((record) => ({ ...record, accountId }))
      await writeUsageBatch(database.sql, [...records, usageRecord({ accountId: `${accountId}_other`, atMs: NOON_MS })])
      for (const { days, by } of searches) {
        const [from = '', to = ''] = days
        const { total, rows } = await readUsageReport(database, { accountId, from, to, by })
        const within = records.filter(({ atMs }) => dayOf(atMs) >= from && dayOf(atMs) <= to)
        const groups = Map.groupBy(within, (record) => JSON.stringify(by.map((one) => placeOf(record, one))))
        const expected = [...groups].map(([places, group]) => [places, withoutClients(group)] as const)
        const found = rows.map(({ places, ...sums }) => [JSON.stringify(places), sums] as const)
        // A correction by nothing alone is no row of the sums.
        const isSomething = ([, { requests, cost }]: (typeof found)[number]) => requests !== 0 || cost !== 0
        expect(new Map(found.filter(isSomething))).toEqual(new Map(expected.filter(isSomething)))
        expect(new Set(found.map(([places]) => places)).size).toBe(found.length)
        expect(total).toEqual(withoutClients(within))
        expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBe(await statementOf(accountId, from, to))
      }
    }),
    { numRuns: RUNS },
  )
})

/** Clients that hung up are no errors. */
function withoutClients(records: UsageRecord[]) {
  const hangUps = records.filter(({ kind, facts }) => kind !== 'late' && facts.status === 499).length
  const { errors, ...sums } = sumsOf(records)
  return { ...sums, errors: errors - hangUps }
}

test('sums by tags equal a rebuild from the records', async () => {
  const sums = () => database.sql`SELECT * FROM usage_daily_tags ORDER BY account_id, day, tags, model`
  const kept = await sums()
  expect(kept.length).toBeGreaterThan(0)
  await database.sql`UPDATE usage_daily_tags SET requests = requests + 1`
  await database.sql`SELECT rebuild_usage_daily_tags('1970-01-01')`
  expect([...(await sums())]).toEqual([...kept])
})

test('a day has sums of 500 tag combinations, and one marked sum for the rest', async () => {
  const { sql } = database
  const accountId = 'acct_many_tags'
  const tagged = (count: number, team: string) =>
    usageRecord({ accountId, cost: 1, atMs: NOON_MS, facts: { labels: { tags: [`run=${count}`, `team=${team}`] } } })
  const numbers = Array.from({ length: 300 }, (_, index) => index)
  for (const team of ['a', 'b'])
    await writeUsageBatch(
      sql,
      numbers.map((count) => tagged(count, team)),
    )
  // A combination that has its own keeps it, and one of the rest stays there.
  await writeUsageBatch(sql, [tagged(0, 'a'), tagged(299, 'b'), usageRecord({ accountId, cost: 7, atMs: NOON_MS })])
  const [kept] =
    await sql`SELECT count(*) FILTER (WHERE tags <> '') AS own, sum(cost_nano) FILTER (WHERE tags = '')::bigint AS rest
    FROM usage_daily_tags WHERE account_id = ${accountId}`
  expect(kept).toEqual({ own: 500, rest: 101 })
  const search = { accountId, from: dayOf(NOON_MS), to: dayOf(NOON_MS), by: ['tag:team'] as const }
  const costs = async () => (await readUsageReport(database, search)).rows.map(({ places, cost }) => [...places, cost])
  expect(await costs()).toEqual([
    ['a', 301],
    ['b', 301],
    [null, 7],
  ])
  await sql`UPDATE usage_daily SET requests = requests + 400000 WHERE account_id = ${accountId}`
  expect(await costs()).toEqual([
    ['a', 301],
    ['b', 200],
    ['other tags', 101],
    [null, 7],
  ])
  const { rows } = await readUsageReport(database, { ...search, by: ['tag', 'model'] })
  expect(rows.length).toBe(502)
  const { points } = await readSeries(database, { accountId, fromMs: 0, toMs: NOON_MS + DAY_MS }, 'tag')
  expect(points.filter(({ group }) => !group.startsWith('run=')).map(({ group, cost }) => [group, cost])).toEqual([
    ['', 7],
    ['other tags', 101],
  ])
  await sql`DELETE FROM usage_daily WHERE account_id = ${accountId}`
})

test('a person’s report has only their own requests, and only names of their account', async () => {
  const { sql } = database
  await sql`INSERT INTO accounts (id, name, email) VALUES ('acct_own', 'A', 'own@example.test'), ('acct_not', 'B', 'not@example.test')`
  await sql`INSERT INTO users (id, name, email) VALUES ('user_ada', 'Ada', 'ada@example.test')`
  for (const [id, account, creator] of [
    ['key_ada', 'acct_own', 'user_ada'],
    ['key_all', 'acct_own', null],
    ['key_not', 'acct_not', null],
  ] as const) {
    const hash = new Bun.CryptoHasher('sha256').update(id).digest('hex')
    await sql`INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four, created_by)
      VALUES (${id}, ${account}, ${`Name of ${id}`}, ${hash}, 'svc-AbCd', 'wxyz', ${creator})`
  }
  const of = (keyId: string, cost: number, memberId?: string) =>
    usageRecord({ accountId: 'acct_own', keyId, cost, memberId })
  // The last one is made up: a record of ours can't name a key of others.
  await writeUsageBatch(sql, [of('key_ada', 5, 'user_ada'), of('key_all', 7), of('key_not', 9)])
  const search = { accountId: 'acct_own', from: dayOf(NOON_MS), to: dayOf(NOON_MS), by: ['member', 'key'] as const }
  const all = await readUsageReport(database, search)
  expect(all.names).toEqual({ key_ada: 'Name of key_ada', key_all: 'Name of key_all', user_ada: 'Ada' })
  expect(all.rows.map(({ places, cost }) => [...places, cost])).toEqual([
    ['user_ada', 'key_ada', 5],
    [null, 'key_all', 7],
    [null, 'key_not', 9],
  ])
  const own = await readUsageReport(database, { ...search, madeBy: 'user_ada' })
  expect([own.total.cost, own.rows.length]).toEqual([5, 1])
  const none = await readUsageReport(database, { ...search, madeBy: '' })
  expect([none.total.cost, none.rows.length]).toEqual([0, 0])
})

test('for archived days usage is known by day, key and model only, and the sums are still complete', async () => {
  const { sql } = database
  const accountId = 'acct_old'
  const labels = { tags: ['team=a'], app: 'App' }
  const [old, recent] = [NOON_MS - 40 * DAY_MS, NOON_MS]
  const records = [old, recent].map((atMs, index) =>
    usageRecord({ accountId, atMs, cost: 10 ** index, facts: { labels } }),
  )
  await writeUsageBatch(sql, records)
  const search = { accountId, from: dayOf(old), to: dayOf(recent), by: ['tag:team', 'day'] as const }
  const rowsOf = async () => {
    const { rows, archivedBeforeMs, total } = await readUsageReport(database, search)
    return [rows.map(({ places, cost }) => [...places, cost]), archivedBeforeMs, total.cost]
  }
  const days = [dayOf(old), dayOf(recent)] as const
  expect(await rowsOf()).toEqual([
    [
      ['a', days[0], 1],
      ['a', days[1], 10],
    ],
    null,
    11,
  ])
  await sql`DELETE FROM usage_records WHERE account_id = ${accountId} AND cost_nano = 1`
  await sql`INSERT INTO archived_months (month, records, accounts, charges_nano, digest, archived_at)
    VALUES ('2026-01-01', 1, 1, 1, ${'0'.repeat(64)}, now())`
  try {
    const before = Date.UTC(2026, 1, 1)
    expect(await rowsOf()).toEqual([
      [
        ['a', days[1], 10],
        [null, days[0], 1],
      ],
      before,
      11,
    ])
  } finally {
    await sql`DELETE FROM archived_months`
  }
})
