/** Creating partitions of future months while others read records. */
import { expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase } from '@/db/client'

import { ensurePartitions } from '@/usage/partitions'

test('creating partitions does not wait for a dump, and look-ups continue', async () => {
  const url = await freshDatabase()
  const [maker, dump, others] = [1, 1, 2].map((maxConnections) => connectDatabase(url, { maxConnections }))
  if (!maker || !dump || !others) throw new Error('three clients')
  const isWaiting = async () => {
    const rows =
      await others.sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'usage_records_default'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    return rows.length > 0
  }
  try {
    let later: number | undefined
    await dump.sql.begin(async (transaction) => {
      await transaction`SELECT count(*) FROM usage_records`
      const made = ensurePartitions(maker.sql, silentLogger)
      await until(isWaiting)
      // Ends only because the maker gives up: the dump goes on until after it.
      expect(await others.sql`SELECT FROM usage_records WHERE event_id = 'none'`).toHaveLength(0)
      later = await made
    })
    expect(later).toBe(60_000)
    expect(await ensurePartitions(maker.sql, silentLogger)).toBe(3_600_000)
  } finally {
    await Promise.all([maker, dump, others].map((client) => client.close()))
  }
})
