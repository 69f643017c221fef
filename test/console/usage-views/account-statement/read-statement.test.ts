/** Compares the account statement with random movements: it adds up to the balance for any period and page size. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { fc } from '@test/support/property'
import { freshDatabase } from '@test/support/stores'
import { usageRecord } from '@test/usage/sample-records'
import {
  type Movement,
  readStatement,
  type StatementPart,
} from '@/console/usage-views/account-statement/read-statement'
import { type StatementPlace, statementQuery } from '@/console/usage-views/account-statement/statement-query'
import { connectDatabase, type Database } from '@/db/client'
import { randomId } from '@/lib/ids'
import { writeUsageBatch } from '@/usage/write-batch'

const DAY_MS = 86_400_000
const FIRST_MS = Date.UTC(2026, 1, 20)
const FIRST_DAY = '2026-02-20'
const DAYS = 30
const ALL = 100_000

let database: Database

beforeAll(async () => {
  database = connectDatabase(await freshDatabase(), { maxConnections: 4 })
})
afterAll(() => database.close())

async function newAccount(): Promise<{ accountId: string; keyId: string }> {
  const [accountId, keyId] = [randomId('acct'), randomId('key')]
  await database.sql`INSERT INTO accounts (id, name, email) VALUES (${accountId}, 'A', ${`${accountId}@example.test`})`
  return { accountId, keyId }
}

/** An entry as it is recorded, but at a moment of our choice. */
async function addEntry(
  accountId: string,
  amount: number,
  atMs: number,
  reference: string = randomId('ref'),
): Promise<string> {
  const id = randomId('entry')
  await database.sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference, created_at) VALUES (${id}, ${accountId},
    ${amount > 0 ? 'credit' : 'correction'}, ${amount}, ${reference}, ${new Date(atMs).toISOString()}::text::timestamptz)`
  await database.sql`UPDATE accounts SET balance_nano = balance_nano + ${amount} WHERE id = ${accountId}`
  return id
}

function dayAt(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

async function read(accountId: string, period: { from?: string; to?: string } = {}, page = {}): Promise<StatementPart> {
  const part = await readStatement(
    database,
    memoryLogger(),
    { accountId, from: FIRST_DAY, ...period },
    { limit: ALL, ...page },
  )
  if (!part) throw new Error('no statement')
  return part
}

async function pages(accountId: string, period: { from: string; to?: string }, limit: number): Promise<Movement[]> {
  const all: Movement[] = []
  for (let after: StatementPlace | undefined; ; ) {
    const part = await read(accountId, period, { after, limit })
    all.push(...part.movements)
    if (!part.hasMore) return all
    after = part.movements.at(-1)
  }
}

const movement = fc.record({
  kind: fc.constantFrom('entry' as const, 'usage' as const, 'usage' as const, 'late' as const),
  amount: fc.integer({ min: 1, max: 5_000_000_000 }),
  isTaken: fc.boolean(),
  // Midnights are where days meet.
  at: fc.oneof(
    fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }),
    fc.integer({ min: 0, max: DAYS - 1 }).map((day) => day * DAY_MS),
    fc.integer({ min: 1, max: DAYS }).map((day) => day * DAY_MS - 1),
  ),
})

test('the movements of a statement add up to the balance, for any period and page size', async () => {
  const story = fc.record({
    movements: fc.array(movement, { maxLength: 40 }),
    cut: fc.integer({ min: 0, max: DAYS }),
    limit: fc.integer({ min: 1, max: 7 }),
  })
  await fc.assert(
    fc.asyncProperty(story, async ({ movements, cut, limit }) => {
      const { accountId, keyId } = await newAccount()
      for (const { kind, amount, isTaken, at } of movements) {
        const atMs = FIRST_MS + at
        if (kind === 'entry') await addEntry(accountId, isTaken ? -amount : amount, atMs)
        else {
          const cost = kind === 'late' && isTaken ? -amount : amount
          const record = usageRecord({ accountId, keyId, atMs, cost, ...(kind === 'late' && { kind }) })
          await writeUsageBatch(database.sql, [record])
        }
      }
      const whole = await read(accountId)
      expect(whole.opening).toBe(0 as never)
      expect(whole.closing).toBe(whole.historyBalance)
      expect(whole.count).toBe(whole.movements.length)
      let balance = 0
      for (const one of whole.movements) {
        balance += one.amount
        expect(one.balance).toBe(balance as never)
      }
      expect(balance).toBe(whole.closing)

      const [last, first] = [dayAt(FIRST_MS + (cut - 1) * DAY_MS), dayAt(FIRST_MS + cut * DAY_MS)]
      const [before, after] = [
        await read(accountId, { from: '2026-01-01', to: last }),
        await read(accountId, { from: first }),
      ]
      expect(before.closing).toBe(after.opening)
      expect(after.closing).toBe(whole.closing)
      expect([...before.movements, ...after.movements]).toEqual(whole.movements)
      expect(await pages(accountId, { from: FIRST_DAY }, limit)).toEqual(whole.movements)
    }),
    { numRuns: 30 },
  )
})

describe('a movement', () => {
  test('a movement belongs to its UTC day; a day’s usage is listed after its entries', async () => {
    const { accountId, keyId } = await newAccount()
    await addEntry(accountId, 5, FIRST_MS + DAY_MS - 1)
    await addEntry(accountId, 7, FIRST_MS + DAY_MS)
    await writeUsageBatch(database.sql, [usageRecord({ accountId, keyId, atMs: FIRST_MS + 1, cost: 2 })])
    await writeUsageBatch(database.sql, [usageRecord({ accountId, keyId, atMs: FIRST_MS + 2, cost: 1 })])
    const found = (await read(accountId)).movements
    expect(found.map(({ day, kind, amount, requests }) => [day, kind, amount, requests])).toEqual([
      ['2026-02-20', 'credit', 5, null],
      ['2026-02-20', 'usage', -3, 2],
      ['2026-02-21', 'credit', 7, null],
    ])
  })

  test('a transfer has the same reference in both accounts', async () => {
    const [from, to] = [await newAccount(), await newAccount()]
    for (const [accountId, amount] of [
      [from.accountId, -5],
      [to.accountId, 5],
    ] as const) {
      await database.sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference, created_at)
        VALUES (${randomId('entry')}, ${accountId}, 'transfer', ${amount}, 'transfer:t', ${new Date(FIRST_MS).toISOString()}::text::timestamptz)`
      await database.sql`UPDATE accounts SET balance_nano = balance_nano + ${amount} WHERE id = ${accountId}`
      const { movements, takenBack, credited } = await read(accountId)
      expect(movements).toMatchObject([{ kind: 'transfer', amount, reference: 'transfer:t', orderId: null }])
      expect(credited - takenBack).toBe(amount)
    }
  })

  test('a movement belongs to an order only if the order has it', async () => {
    const { accountId } = await newAccount()
    const other = await newAccount()
    const order = await paidOrder(other.accountId)
    for (const reference of [`refund:${order}:1`, 'payment:x', 'reversal:y', 'adjustment:z'])
      await addEntry(accountId, -5, FIRST_MS, reference)
    const found = (await read(accountId)).movements
    expect(found.map(({ kind, orderId }) => [kind, orderId]).sort()).toEqual([
      ['adjustment', null],
      ['correction', null],
      ['correction', null],
      ['correction', null],
    ])
    expect((await read(other.accountId)).movements).toMatchObject([{ kind: 'payment', orderId: order }])
  })
})

/** A paid order as its tables have it. Returns its id. */
async function paidOrder(accountId: string): Promise<string> {
  const [id, entryId] = [randomId('order'), await addEntry(accountId, 10_000_000, FIRST_MS)]
  const at = new Date(FIRST_MS).toISOString()
  await database.sql`INSERT INTO orders (id, account_id, method, reference, amount_cents, currency, state, paid_cents, created_at, expires_at,
    paid_at, parties, updated_at) VALUES (${id}, ${accountId}, 'bank_transfer', ${id.slice(0, 30)}, 1, 'USD', 'paid', 1, ${at}::text::timestamptz,
    ${at}::text::timestamptz + interval '1 day', ${at}::text::timestamptz, '{}', ${at}::text::timestamptz)`
  await database.sql`INSERT INTO payments (id, provider, external_id, order_id, account_id, amount_cents, currency, state, credited_cents,
    entry_id, received_at, reversible_until) VALUES (${randomId('pay')}, 'bank', ${id}, ${id}, ${accountId}, 1, 'USD', 'credited', 1,
    ${entryId}, ${at}::text::timestamptz, ${at}::text::timestamptz)`
  return id
}

test('an unknown account has no statement; an account without movements has an empty one', async () => {
  expect(
    await readStatement(database, memoryLogger(), { accountId: 'acct_none', from: FIRST_DAY }, { limit: 1 }),
  ).toBeUndefined()
  const { accountId } = await newAccount()
  expect(await read(accountId)).toMatchObject({ opening: 0, closing: 0, count: 0, movements: [], hasMore: false })
})

test('a difference between a statement’s movements and the balance is logged', async () => {
  const { accountId } = await newAccount()
  await addEntry(accountId, 5, FIRST_MS)
  const logger = memoryLogger()
  const period = { accountId, from: FIRST_DAY }
  await readStatement(database, logger, period, { limit: 10 })
  expect(logger.lines).toEqual([])
  await database.sql`UPDATE accounts SET balance_nano = 6 WHERE id = ${accountId}`
  await readStatement(database, logger, period, { limit: 10 })
  expect(logger.lines).toMatchObject([
    { event: 'account_statement_differs', fields: { closing: 5, historyBalance: 6 } },
  ])
})

test('a statement reads the daily sums by their index, and no usage record', async () => {
  const { accountId } = await newAccount()
  await database.sql`INSERT INTO usage_daily SELECT 'acct_' || account, date '2026-01-01' + day, 'key_' || key, 'svc/alpha',
    1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0 FROM generate_series(1, 200) account, generate_series(0, 99) day, generate_series(1, 5) key`
  await database.sql`ANALYZE usage_daily`
  const plan =
    await database.sql`EXPLAIN ${statementQuery(database.sql, { accountId, from: '2026-03-01' }, undefined, 101)}`
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).not.toContain('usage_records')
  expect(text).not.toMatch(/Seq Scan on (usage_daily|ledger_entries)/)
  expect(text).toContain('usage_daily_pkey')
})
