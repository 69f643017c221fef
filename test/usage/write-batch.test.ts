/** Writing usage records: each counts once, however many writers write it, and however often. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { ZERO_USAGE } from '@/chat/usage'
import { connectDatabase, type Database } from '@/db/client'
import { databaseFailure } from '@/db/failure'
import { parseUsageRecord, type UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { NOON_MS, type RecordChanges, streamFields, usageRecord } from './sample-records'

const DAY_MS = 86_400_000
let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
beforeEach(async () => {
  const { sql } = database
  await sql`TRUNCATE usage_records, usage_daily`
  for (const table of ['api_keys', 'accounts', 'users']) await sql.unsafe(`DELETE FROM ${table}`)
  for (const id of ['acct_1', 'acct_2']) {
    await sql`INSERT INTO accounts (id, name, email, balance_nano) VALUES (${id}, ${id}, ${`${id}@example.test`}, 1000000)`
  }
  for (const [id, account] of [
    ['key_1', 'acct_1'],
    ['key_2', 'acct_2'],
  ] as const) {
    await sql`INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
      VALUES (${id}, ${account}, ${id}, ${id.padEnd(64, '0').replace(/[^0-9a-f]/g, 'a')}, 'svc-AbCd', 'wxyz')`
  }
})
afterAll(() => database.close())

describe('writeUsageBatch', () => {
  test('writeUsageBatch writes every field of a record', async () => {
    const record = usageRecord({
      holdId: 'hold_all',
      cost: 1234,
      seq: 7,
      flags: ['overrun'],
      facts: { flags: ['estimated', 'overrun'], firstTokenMs: null, requestId: 'a "quoted\\ \n{id}' },
    })
    expect(await writeUsageBatch(database.sql, [record])).toBe(1)
    const stored = await database.db.query.usageRecords.findFirst()
    expect(stored).toEqual({
      ...{ recordId: 'hold_all', holdId: 'hold_all', accountId: 'acct_1', keyId: 'key_1', kind: 'settle', seq: 7 },
      ...{ cost: record.cost, held: record.held, settledAt: new Date(NOON_MS), requestId: 'a "quoted\\ \n{id}' },
      ...{ model: 'svc/alpha', requestedModel: 'auto-smart', provider: 'provider1', upstreamModel: 'alpha-2026-01' },
      ...{ clientFormat: 'chat-completions', providerFormat: 'messages' },
      ...{ uncachedTokens: 100, cacheReadTokens: 20, cacheWrite5mTokens: 3, cacheWrite1hTokens: 4 },
      ...{ outputTokens: 50, reasoningTokens: 10, rule: 'usage', flags: ['estimated', 'overrun'], stream: true },
      ...{ status: 200, attempts: 1, startedAt: new Date(NOON_MS - 900), firstTokenMs: null, durationMs: 900 },
      serviceTier: null,
      routeReason: 'chosen; smart, easy chat (0.12), score 1.80 of 3',
      ...{ providerCost: null, chargeBasis: 'relayed', countGaps: null },
      ...{ providerInputTokens: null, providerOutputTokens: null, localInputTokens: null, localOutputTokens: null },
      ...{ toolCharges: null, units: null },
      ...{ memberId: null, tags: null, app: null, endUser: null, answerId: null, finish: null },
      ...{ dataRules: null, dataTerms: null },
    })
  })

  test('writeUsageBatch keeps the acting member, and the key’s own tags override the request’s', async () => {
    const { sql } = database
    await sql`INSERT INTO users (id, name, email) VALUES ('user_1', 'Ada', 'ada@example.test'), ('user_2', 'Bob', 'bob@example.test')`
    await sql`UPDATE api_keys SET created_by = 'user_2', tags = '{team=books,env=prod}' WHERE id = 'key_1'`
    const said = { tags: ['env=dev', 'run=7'], app: 'My App', endUser: 'a1' }
    const labels = (request: string, keyId = 'key_1', more = {}) =>
      usageRecord({
        ...{ holdId: request, accountId: keyId === 'key_1' ? 'acct_1' : 'acct_2', keyId, facts: more },
        ...(keyId === 'key_1' && { memberId: 'user_1' }),
      })
    // The second is written by the statement that looks at each row: a late charge is never copied.
    const late = {
      ...labels('hold_late', 'key_1', { labels: said }),
      recordId: 'hold_late:late',
      kind: 'late' as const,
    }
    const first = [labels('hold_said', 'key_1', { labels: said }), labels('hold_silent'), labels('hold_other', 'key_2')]
    for (const batch of [first, [late]]) expect(await writeUsageBatch(sql, batch)).toBe(batch.length)
    const rows = await sql`SELECT event_id, member_id, array_to_json(tags) AS tags, app, end_user
      FROM usage_records ORDER BY event_id`
    const fixed = ['env=prod', 'team=books']
    const whole = { member_id: 'user_1', tags: ['env=prod', 'run=7', 'team=books'], app: 'My App', end_user: 'a1' }
    expect([...rows]).toEqual([
      { event_id: 'hold_late:late', ...whole },
      { event_id: 'hold_other', member_id: null, tags: null, app: null, end_user: null },
      { event_id: 'hold_said', ...whole },
      { event_id: 'hold_silent', member_id: 'user_1', tags: fixed, app: null, end_user: null },
    ])
  })

  test('writeUsageBatch writes the provider’s counts and cost if known', async () => {
    const counts = { gaps: ['input_over' as const, 'clamped' as const], providerInput: 900, providerOutput: 50 }
    const facts = { providerCost: nano(700), counts: { ...counts, localInput: 90, localOutput: 0 } }
    await writeUsageBatch(database.sql, [usageRecord({ facts: { ...facts, flags: ['clamped'] } })])
    expect(await database.db.query.usageRecords.findFirst()).toMatchObject({
      ...{ providerCost: 700, chargeBasis: 'clamped', countGaps: ['input_over', 'clamped'] },
      ...{ providerInputTokens: 900, providerOutputTokens: 50, localInputTokens: 90, localOutputTokens: 0 },
    })
  })

  test('writeUsageBatch writes the units of a usage, by insert and by copy', async () => {
    const units = [
      { billable: 'output_image', unit: 'image', variant: 'hd', count: 2 },
      { billable: 'input_audio', unit: 'token', count: 7 },
    ] as const
    const record = () => usageRecord({ facts: { usage: { ...ZERO_USAGE, uncached: 10, units } } })
    const [copied, inserted] = [record(), record()]
    await writeUsageBatch(database.sql, [copied])
    const late = { ...inserted, recordId: `${inserted.holdId}:late`, kind: 'late' as const }
    await writeUsageBatch(database.sql, [late])
    const rows = await database.db.query.usageRecords.findMany({ columns: { units: true } })
    expect(rows).toEqual([{ units: [...units] }, { units: [...units] }])
  })

  test('the daily provider cost, and the part with unknown cost, are summed separately', async () => {
    const known = (providerCost: number) => usageRecord({ cost: 1_000, facts: { providerCost: nano(providerCost) } })
    const unknown = usageRecord({ cost: 50 })
    const day = async () => (await database.db.query.usageDaily.findFirst()) ?? expect.unreachable()
    await writeUsageBatch(database.sql, [unknown])
    expect(await day()).toMatchObject({ cost: 50, providerCost: null, costed: null })
    await writeUsageBatch(database.sql, [known(300), known(0), usageRecord({ cost: 50 })])
    expect(await day()).toMatchObject({ cost: 2_100, providerCost: 300, costed: 2_000 })
    await writeUsageBatch(database.sql, [usageRecord({ cost: 50 }), known(5)])
    expect(await day()).toMatchObject({ cost: 3_150, providerCost: 305, costed: 3_000 })
  })

  test('a late correction adds no second provider cost', async () => {
    const facts = { providerCost: nano(400) }
    const expired = usageRecord({ holdId: 'hold_x', kind: 'expire', cost: 900, flags: ['expired'], facts })
    const late = { ...expired, recordId: 'hold_x:late', kind: 'late' as const, cost: nano(-300), flags: [] }
    await writeUsageBatch(database.sql, [expired, late])
    expect(await database.db.query.usageDaily.findFirst()).toMatchObject({ cost: 600, providerCost: 400, costed: 900 })
    const stored = await database.db.query.usageRecords.findMany({ orderBy: (row, { asc }) => asc(row.recordId) })
    expect(stored.map((row) => [row.chargeBasis, row.providerCost])).toEqual([
      ['expired', 400],
      ['late', null],
    ])
  })

  test('a record without a route reason has null in that column', async () => {
    const { routeReason: _, ...facts } = usageRecord().facts
    const older = { ...usageRecord(), facts }
    expect(parseUsageRecord(streamFields(older))).toEqual(older)
    expect(parseUsageRecord(streamFields(usageRecord({ facts: { routeReason: 5 as never } })))).toBeUndefined()
    expect(await writeUsageBatch(database.sql, [older, usageRecord({ facts: { routeReason: '' } })])).toBe(2)
    const stored = await database.db.query.usageRecords.findMany()
    expect(stored.map((row) => row.routeReason)).toEqual([null, null])
  })

  test('daily sums count failed requests as errors, but not clients that disconnected', async () => {
    const statuses = [200, 499, 499, 502]
    await writeUsageBatch(
      database.sql,
      statuses.map((status) => usageRecord({ facts: { status } })),
    )
    expect((await database.db.query.usageDaily.findMany()).map(({ errors }) => errors)).toEqual([1])
  })

  test('account, key and day are updated only by new records', async () => {
    const records = [
      usageRecord({ cost: 1_000, seq: 3 }),
      usageRecord({ cost: 500, seq: 2, atMs: NOON_MS + 5_000, facts: { status: 499, firstTokenMs: null } }),
      usageRecord({ cost: 7, accountId: 'acct_2', keyId: 'key_2', facts: { model: 'svc/beta' } }),
    ]
    expect(await writeUsageBatch(database.sql, records.slice(0, 1))).toBe(1)
    expect(await writeUsageBatch(database.sql, records)).toBe(2)
    expect(await writeUsageBatch(database.sql, records)).toBe(0)
    expect(await accountsNow()).toEqual([
      { id: 'acct_1', balance: 998_500, spent: 1_500, month: 202603, month_spent: 1_500, seq: 3 },
      { id: 'acct_2', balance: 999_993, spent: 7, month: 202603, month_spent: 7, seq: 1 },
    ])
    const keys = await database.db.query.apiKeys.findMany({ orderBy: (key, { asc }) => asc(key.id) })
    expect(keys.map((key) => [key.id, Number(key.spentThisMonth), key.spentMonth, key.lastUsedAt?.getTime()])).toEqual([
      ['key_1', 1_500, 202603, NOON_MS + 5_000],
      ['key_2', 7, 202603, NOON_MS],
    ])
    const days = await database.db.query.usageDaily.findMany({ orderBy: (day, { asc }) => asc(day.accountId) })
    expect(days).toMatchObject([
      {
        ...{ accountId: 'acct_1', day: '2026-03-10', keyId: 'key_1', model: 'svc/alpha', requests: 2, errors: 0 },
        ...{ uncachedTokens: 200, cacheReadTokens: 40, cacheWrite5mTokens: 6, cacheWrite1hTokens: 8 },
        ...{ outputTokens: 100, reasoningTokens: 20, cost: 1_500, durationMs: 1_800, firstTokenMs: 200 },
        firstTokenCount: 1,
      },
      { accountId: 'acct_2', day: '2026-03-10', keyId: 'key_2', model: 'svc/beta', requests: 1, cost: 7 },
    ])
  })

  test('a record that is settled a second time counts once', async () => {
    const first = usageRecord({ holdId: 'hold_twice', cost: 100 })
    const again = { ...first, atMs: NOON_MS + 3 * DAY_MS }
    await writeUsageBatch(database.sql, [first])
    expect(await writeUsageBatch(database.sql, [again])).toBe(0)
    expect(await writeUsageBatch(database.sql, [first, again])).toBe(0)
    const fresh = usageRecord({ holdId: 'hold_fresh', cost: 100 })
    expect(await writeUsageBatch(database.sql, [fresh, { ...fresh, atMs: NOON_MS + 1 }])).toBe(1)
    expect((await accountsNow())[0]).toMatchObject({ balance: 999_800, spent: 200 })
  })

  test('a month’s sum starts at zero, even if records of the former month arrive late', async () => {
    const march = usageRecord({ cost: 10, atMs: Date.UTC(2026, 3, 1) - 1 })
    const april = usageRecord({ cost: 3, atMs: Date.UTC(2026, 3, 1) })
    const lateMarch = usageRecord({ cost: 5, atMs: Date.UTC(2026, 2, 31) })
    await writeUsageBatch(database.sql, [march])
    await writeUsageBatch(database.sql, [april, lateMarch])
    await writeUsageBatch(database.sql, [usageRecord({ cost: 4, atMs: Date.UTC(2026, 2, 30) })])
    expect((await accountsNow())[0]).toMatchObject({ spent: 22, month: 202604, month_spent: 3 })
  })

  test('a late correction returns credit, but does not count as a request', async () => {
    const expired = usageRecord({ holdId: 'hold_x', kind: 'expire', cost: 900, flags: ['expired', 'estimated'] })
    const late = usageRecord({ recordId: 'hold_x:late', holdId: 'hold_x', kind: 'late', cost: -300, flags: ['late'] })
    await writeUsageBatch(database.sql, [late])
    await writeUsageBatch(database.sql, [expired])
    expect((await accountsNow())[0]).toMatchObject({ balance: 999_400, spent: 600 })
    const [day] = await database.db.query.usageDaily.findMany()
    expect(day).toMatchObject({ requests: 1, outputTokens: 50, cost: 600 })
  })

  test('a late correction of a hold that was settled changes nothing', async () => {
    const settled = usageRecord({ holdId: 'hold_settled', cost: 500 })
    await writeUsageBatch(database.sql, [settled])
    const late = usageRecord({
      holdId: 'hold_settled',
      recordId: 'hold_settled:late',
      kind: 'late',
      cost: 490,
      held: 0,
    })
    expect(await writeUsageBatch(database.sql, [late, usageRecord({ cost: 1 })])).toBe(1)
    const [account] = await database.sql`SELECT balance_nano, spent_nano FROM accounts WHERE id = 'acct_1'`
    expect(account).toEqual({ balance_nano: 999_499, spent_nano: 501 })
  })

  test('a charge that can never be booked is a data error, and no record of the batch is booked', async () => {
    await database.sql`UPDATE accounts SET balance_nano = -8999999999999999 WHERE id = 'acct_2'`
    const batch = [usageRecord(), usageRecord({ accountId: 'acct_2', keyId: 'key_2', cost: 5_000 })]
    const error = await writeUsageBatch(database.sql, batch).catch((failure: unknown) => failure)
    expect(databaseFailure(error)).toBe('data')
    expect((await accountsNow())[0]).toMatchObject({ balance: 1_000_000, spent: 0 })
    expect(await database.sql`SELECT 1 FROM usage_records`).toHaveLength(0)
  })

  test('an absurd latency does not prevent booking a charge', async () => {
    const facts = { durationMs: 9e15, firstTokenMs: -4, status: 1e12, attempts: 2.5 }
    expect(await writeUsageBatch(database.sql, [usageRecord({ facts })])).toBe(1)
  })

  test('concurrent writers of the same records book each once without a deadlock', async () => {
    const changes: fc.Arbitrary<RecordChanges> = fc.record({
      holdId: fc.integer({ min: 0, max: 400 }).map((number) => `hold_${number}`),
      cost: fc.integer({ min: 0, max: 100 }),
      accountId: fc.constantFrom('acct_1', 'acct_2'),
      keyId: fc.constantFrom('key_1', 'key_2'),
      atMs: fc.integer({ min: -2, max: 2 }).map((days) => NOON_MS + days * DAY_MS),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(changes, { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(), { minLength: 60 }),
        async (all, order) => {
          await resetBooks()
          const records = [...new Map(all.map((one) => [one.holdId, usageRecord(one)])).values()]
          const shuffled = records.toSorted((one, other) => rank(order, records, one) - rank(order, records, other))
          const half = Math.ceil(records.length / 2)
          const batches = [records, shuffled, records.slice(0, half), shuffled.slice(half), records.toReversed()]
          const counts = await Promise.all(batches.map((batch) => writeUsageBatch(database.sql, batch)))
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(records.length)
          const total = records.reduce((sum, record) => sum + record.cost, 0)
          const accounts = await accountsNow()
          expect(accounts.reduce((sum, account) => sum + account.spent, 0)).toBe(total)
          const [sums] = await database.sql`SELECT (SELECT sum(cost_nano)::bigint FROM usage_records) AS records,
          (SELECT sum(cost_nano)::bigint FROM usage_daily) AS days`
          expect(sums).toEqual({ records: total, days: total })
        },
      ),
      { numRuns: 25 },
    )
  })
})

function rank(order: readonly number[], records: readonly UsageRecord[], record: UsageRecord): number {
  return order[records.indexOf(record) % order.length] ?? 0
}

async function resetBooks(): Promise<void> {
  await database.sql`TRUNCATE usage_records, usage_daily`
  await database.sql`UPDATE accounts SET balance_nano = 1000000, spent_nano = 0, spent_month_nano = 0`
}

type AccountNow = { id: string; balance: number; spent: number; month: number; month_spent: number; seq: number }

async function accountsNow(): Promise<AccountNow[]> {
  const rows = await database.sql<AccountNow[]>`SELECT id, balance_nano AS balance, spent_nano AS spent,
    spent_month AS month, spent_month_nano AS month_spent, ledger_seq AS seq FROM accounts ORDER BY id`
  return [...rows]
}
