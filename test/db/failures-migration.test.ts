/** The step to failed requests of thirty days on a database that has some: all of them stay, each in its day, and so do their sums. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startPostgres } from '@test/support/stores'
import { searchFailures, sumFailures } from '@/console/usage-views/failures/failure-search'
import { connectDatabase } from '@/db/client'
import { MIGRATIONS, migrate } from '@/db/migrate'

setDefaultTimeout(300_000)

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

test('failed requests of before stay, each in the partition of its day', async () => {
  const server = await startPostgres()
  ends.push(() => server.stop())
  const database = connectDatabase(server.url, { maxConnections: 2 })
  ends.push(() => database.close())
  const { sql } = database
  await migrate(server.url, { migrations: MIGRATIONS.filter(({ id }) => id < 44) })
  // Twelve hours apart, over seven days and a half: 15 in the list, and 3 of each were counted.
  await sql`INSERT INTO failed_requests (request_id, account_id, key_id, failed_at, format, status, code, words)
    SELECT 'req_' || n, 'acct_1', 'key_1', now() - n * interval '12 hours', 'messages', 429, 'rate_limit_exceeded', 'Slower.'
    FROM generate_series(0, 14) AS n`
  await sql`INSERT INTO failed_request_counts (account_id, hour, key_id, status, code, requests)
    SELECT account_id, date_trunc('hour', failed_at, 'UTC'), key_id, status, code, 3 FROM failed_requests`
  await migrate(server.url)
  const { items, nextCursor } = await searchFailures(database, { accountId: 'acct_1' }, Date.now())
  expect([items.map(({ requestId }) => requestId), nextCursor]).toEqual([
    Array.from({ length: 15 }, (_, index) => `req_${index}`),
    null,
  ])
  expect(await sumFailures(database, { accountId: 'acct_1' }, Date.now())).toEqual([
    { status: 429, code: 'rate_limit_exceeded', requests: 45, kept: 15 },
  ])
  const [row] = await sql`SELECT sum(kept)::bigint AS kept, (SELECT count(*) FROM failed_requests_default) AS outside,
    (SELECT count(*) FROM failed_requests WHERE tableoid::regclass::text <> 'failed_requests_' ||
      to_char(failed_at AT TIME ZONE 'UTC', 'YYYYMMDD')) AS misplaced FROM failed_request_days`
  expect(row).toEqual({ kept: 15, outside: 0, misplaced: 0 })
})
