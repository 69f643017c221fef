/** Updates of daily sums stay on their page, so that a batch writes no index entry for them. */
import { expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase } from '@/db/client'
import { writeUsageBatch } from '@/usage/write-batch'
import { usageRecord } from './sample-records'

const ROWS = 300
/** The second changes what the first has made. Whether a third finds room is the server's to say: it clears pages when it can. */
const BATCHES = 2

test('a batch that updates every daily sum writes no index entry', async () => {
  const database = connectDatabase(await freshDatabase(), { maxConnections: 1 })
  const { sql } = database
  await sql`INSERT INTO accounts (id, name, email) VALUES ('acct_1', 'one', 'one@example.test')`
  for (let batch = 0; batch < BATCHES; batch++)
    await writeUsageBatch(
      sql,
      Array.from({ length: ROWS }, (_, row) =>
        usageRecord({
          holdId: `hold_${batch}_${row}`,
          facts: { requestId: `req_${batch}_${row}`, model: `svc/${row}` },
        }),
      ),
    )
  const moved = async () => {
    await sql`SELECT pg_stat_force_next_flush()`
    const [row] = await sql<{ all: number; inPlace: number }[]>`
      SELECT n_tup_upd AS all, n_tup_hot_upd AS "inPlace" FROM pg_stat_user_tables WHERE relname = 'usage_daily'`
    return row
  }
  await until(async () => (await moved())?.all === ROWS * (BATCHES - 1), 'the server to have counted')
  expect(await moved()).toEqual({ all: ROWS * (BATCHES - 1), inPlace: ROWS * (BATCHES - 1) })
  await database.close()
})
