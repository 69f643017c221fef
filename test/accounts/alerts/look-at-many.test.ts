/** Checks of many accounts for alerts: few statements, every account in turn, and no alert of another gateway overwritten. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { lookAtMany } from '@/accounts/alerts/look-at-many'
import { takeTurn } from '@/accounts/alerts/turn'
import { createAlertWorker } from '@/accounts/alerts/worker'
import type { Database } from '@/db/client'
import { systemClock } from '@/lib/clock'
import { NANO_PER_USD } from '@/lib/money'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

/** Accounts that have spent one dollar of a hundred today, in the order of their ids. */
async function spenders(count: number, prefix: string): Promise<string[]> {
  const { sql } = fixture.database
  const rows = await sql<{ id: string }[]>`
    INSERT INTO accounts (id, name, email, balance_nano, spent_nano)
    SELECT ${prefix} || lpad(n::text, 6, '0'), 'many', ${prefix} || n || '@example.test', ${99 * NANO_PER_USD}, ${NANO_PER_USD} FROM generate_series(1, ${count}::int) n
    RETURNING id`
  await sql`INSERT INTO usage_daily (account_id, day, key_id, model, requests, errors, uncached_tokens, cache_read_tokens,
      cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano, duration_ms, first_token_ms, first_token_count)
    SELECT id, current_date, 'key_1', 'svc/alpha', 1, 0, 0, 0, 0, 0, 0, 0, ${NANO_PER_USD}, 0, 0, 0 FROM accounts WHERE name = 'many'
    ON CONFLICT DO NOTHING`
  return rows.map(({ id }) => id)
}

const lookOf = async (accountId: string) =>
  (
    await fixture.database.sql`SELECT balance_nano::bigint AS balance, spent_nano::bigint AS spent FROM alert_looks
    WHERE account_id = ${accountId}`
  )[0]

/** Counts statements, and the parts of which they are made. */
function counted({ sql, db, ...rest }: Database): { database: Database; count(): number } {
  let calls = 0
  const counting = new Proxy(sql, {
    apply(target, self, args) {
      calls += 1
      return Reflect.apply(target, self, args)
    },
  })
  const countingDb = new Proxy(db, {
    get(target, name) {
      calls += 1
      return Reflect.get(target, name)
    },
  })
  return { database: { ...rest, sql: counting, db: countingDb }, count: () => calls }
}

test('checking many accounts without alerts takes as many statements as checking one', async () => {
  const accounts = await spenders(401, 'acct_few_')
  const costs: number[] = []
  // First looks, and looks at what was looked at before.
  for (const turn of [1, 2]) {
    await fixture.database.sql`UPDATE accounts SET spent_nano = ${turn * NANO_PER_USD} WHERE name = 'many'`
    for (const some of [accounts.slice(0, 1), accounts.slice(1)]) {
      const { database, count } = counted(fixture.database)
      expect(await lookAtMany(database, some, Date.now())).toBe(0)
      costs.push(count())
    }
  }
  expect(costs[1]).toBe(costs[0] as number)
  expect(costs[3]).toBe(costs[2] as number)
  for (const accountId of [accounts[0], accounts[400]])
    expect(await lookOf(accountId as string)).toEqual({ balance: 99 * NANO_PER_USD, spent: 2 * NANO_PER_USD })
})

test('one gateway at a time checks for alerts; another takes over when that gateway stops or dies', async () => {
  const [accountId = ''] = await spenders(1, 'acct_turn_')
  const { database, count } = counted(fixture.database)
  expect(await takeTurn(database, 'one', 60_000)).toBe(true)
  expect(await takeTurn(database, 'other', 60_000)).toBe(false)
  expect(await takeTurn(database, 'one', 60_000)).toBe(true)
  const deps = { database, clock: systemClock, logger: silentLogger, bookedUntilMs: Date.now }
  const worker = createAlertWorker(deps, 10)
  const before = count()
  worker.start()
  await until(() => count() >= before + 5, 'rounds without the turn')
  expect(await lookOf(accountId)).toBeUndefined()
  await takeTurn(fixture.database, 'one', 0)
  await until(() => lookOf(accountId), 'the look')
  await worker.stop()
})

test('all accounts are checked, even if many are in constant use', async () => {
  const accounts = await spenders(5_200, 'acct_many_')
  const { database } = fixture
  const worker = createAlertWorker({ database, clock: systemClock, logger: silentLogger, bookedUntilMs: Date.now })
  await worker.runOnce()
  expect(await lookOf(accounts[0] as string)).toEqual({ balance: 99 * NANO_PER_USD, spent: NANO_PER_USD })
  expect(await lookOf(accounts.at(-1) as string)).toBeUndefined()
  await database.sql`UPDATE accounts SET spent_nano = spent_nano + 1 WHERE name = 'many'`
  await worker.runOnce()
  expect(await lookOf(accounts.at(-1) as string)).toEqual({ balance: 99 * NANO_PER_USD, spent: NANO_PER_USD + 1 })
})

test('an account whose alert fails delays no other, and is checked again', async () => {
  const { sql } = fixture.database
  const told = async () => (await sql`SELECT DISTINCT facts->>'accountId' AS id FROM mails`).map(({ id }) => id)
  const accounts = await spenders(3, 'acct_low_')
  const [, poisoned = ''] = accounts
  await sql`UPDATE accounts SET balance_nano = 0 WHERE id LIKE 'acct_low_%'`
  await sql`INSERT INTO alert_addresses (account_id, email, confirmed_at)
    SELECT id, id || '@example.test', now() FROM accounts WHERE id LIKE 'acct_low_%'`
  await sql`ALTER TABLE mails ADD CONSTRAINT poison CHECK (recipient <> ${sql.unsafe(`'${poisoned}@example.test'`)}) NOT VALID`
  await expect(lookAtMany(fixture.database, accounts, Date.now())).rejects.toThrow()
  expect((await told()).sort()).toEqual(accounts.filter((id) => id !== poisoned))
  await sql`ALTER TABLE mails DROP CONSTRAINT poison`
  expect(await lookAtMany(fixture.database, [poisoned], Date.now())).toBe(1)
  expect((await told()).sort()).toEqual(accounts)
})

test('a check for alerts keeps the alerts that another gateway recorded during the check', async () => {
  const [accountId = ''] = await spenders(1, 'acct_twice_')
  await lookAtMany(fixture.database, [accountId], Date.now())
  await fixture.database.sql`UPDATE accounts SET spent_nano = spent_nano + 1 WHERE id = ${accountId}`
  const other = await fixture.database.sql.reserve()
  await other`BEGIN`
  await other`LOCK TABLE alert_settings IN ACCESS EXCLUSIVE MODE`
  // It has read what was remembered, and waits for the account's settings.
  const looking = lookAtMany(fixture.database, [accountId], Date.now())
  await until(
    async () =>
      (
        await other`SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE NOT granted AND datname = current_database()`
      ).length > 0,
    'the look',
  )
  await other`UPDATE alert_looks SET spent_nano = 7 WHERE account_id = ${accountId}`
  await other`COMMIT`
  other.release()
  expect(await looking).toBe(0)
  expect(await lookOf(accountId)).toMatchObject({ spent: 7 })
})
