/** The step to archived usage on a database that has records: nothing of them changes, and their months can be archived at once. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startPostgres, startRedis } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { usageRecord } from '@test/usage/sample-records'
import { OPERATOR } from '@/accounts/audit'
import { reconcileHistory } from '@/accounts/reconcile'
import { archiveUsage } from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { MIGRATIONS, migrate } from '@/db/migrate'
import { usageColumns } from '@/db/schema'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'
import { totalsOf } from '@/usage/totals'

setDefaultTimeout(300_000)

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

test('records of before stay as they are, and can be archived', async () => {
  const server = await startPostgres()
  ends.push(() => server.stop())
  const database = connectDatabase(server.url, { maxConnections: 2 })
  ends.push(() => database.close())
  const { sql } = database
  await migrate(server.url, { migrations: MIGRATIONS.filter(({ id }) => id < 20) })
  const records = [
    '2025-07-31T23:59:59.999Z',
    '2025-08-01T00:00:00Z',
    '2025-08-31T23:59:59.999Z',
    '2025-09-01T00:00:00Z',
  ].map((at, index) => usageRecord({ atMs: Date.parse(at), cost: 10 ** index }))
  await sql`INSERT INTO accounts (id, name, email, balance_nano, spent_nano) VALUES ('acct_1', 'A', 'a@example.test', 8889, 1111)`
  await sql`INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference) VALUES ('e', 'acct_1', 'credit', 10000, 'r')`
  await sql`SELECT ensure_usage_partitions('2025-08-01', 1)`
  for (const record of records) {
    const row = Object.fromEntries(usageColumns.map(({ name, cell }) => [name, cell(record.facts, record)]))
    await sql`INSERT INTO usage_records SELECT * FROM json_populate_record(NULL::usage_records, ${JSON.stringify(row)}::text::json)`
  }
  for (const day of totalsOf(records).days) {
    await sql`INSERT INTO usage_daily (account_id, day, key_id, model, requests, errors, uncached_tokens, cache_read_tokens,
        cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano, duration_ms, first_token_ms, first_token_count)
      VALUES (${day.accountId}, ${day.day}::text::date, ${day.keyId}, ${day.model}, ${day.requests}, 0, ${day.uncached}, ${day.cacheRead},
        ${day.cacheWrite5m}, ${day.cacheWrite1h}, ${day.output}, ${day.reasoning}, ${day.cost}, 0, 0, 0)`
  }
  // What newer columns add is null in all of them.
  const all = async () => [
    ...(await sql`SELECT jsonb_strip_nulls(to_jsonb(r)) FROM usage_records r ORDER BY settled_at`),
  ]
  const before = await all()
  await migrate(server.url)
  expect(await all()).toEqual(before)
  expect((await reconcileHistory(database, 'records')).violations).toEqual([])
  const store = await startRedis()
  ends.push(() => store.stop())
  const redis = connectRedis(store.url, { logger: createLogger({ level: 'error', service: 'test', write: () => {} }) })
  ends.push(() => redis.disconnect())
  await waitForRedis(redis, PATIENCE_MS)
  const archived = await archiveUsage({ owner: database, redis, by: OPERATOR }, '2025-10')
  expect(archived.map(({ month, records: count }) => [month, count])).toEqual([
    ['2025-07', 1],
    ['2025-08', 2],
    ['2025-09', 1],
  ])
  expect((await reconcileHistory(database, 'records')).violations).toEqual([])
})
