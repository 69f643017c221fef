/** Keeps the monthly partitions of the usage records ahead of time. */
import type { Sql } from 'postgres'
import { BRIEF_LOCK_MS } from '@/db/brief-locks'
import { databaseFailure, describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'

/** The month that ended may still get late records; two months ahead survive a worker that is down for weeks. */
const MONTHS_BEHIND = 1
const MONTHS_AHEAD = 2
const CHECK_INTERVAL_MS = 3_600_000
const RETRY_INTERVAL_MS = 60_000
/** What Postgres says where the role may not create tables. */
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Makes the partitions from last month to two months ahead and returns after how many milliseconds to look again. A role that
 * may not make tables is only warned about, and so is a dump that reads the records: waiting for its end would block all later reads and
 * writes. Records then go into the default partition and move once the month's partition is made.
 */
export async function ensurePartitions(sql: Sql, logger: Logger): Promise<number> {
  try {
    const [row] = await sql.begin(async (transaction) => {
      await transaction.unsafe(`SET LOCAL lock_timeout = ${BRIEF_LOCK_MS}`)
      return await transaction<{ made: number }[]>`SELECT ensure_usage_partitions(
        (now() AT TIME ZONE 'UTC' - make_interval(months => ${MONTHS_BEHIND}))::date,
        ${MONTHS_BEHIND + 1 + MONTHS_AHEAD}) AS made`
    })
    if (row && row.made > 0) logger.info('usage_partitions_made', { count: row.made })
    return CHECK_INTERVAL_MS
  } catch (error) {
    const isLater = databaseFailure(error) === 'conflict' || describeFailure(error).startsWith(INSUFFICIENT_PRIVILEGE)
    if (!isLater) throw error
    logger.warn('usage_partitions_not_made', { reason: describeFailure(error) })
    return RETRY_INTERVAL_MS
  }
}
