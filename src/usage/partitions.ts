/** Keeps the partitions of the usage records (months) and of the failed requests (days) ahead of time. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import { BRIEF_LOCK_MS } from '@/db/brief-locks'
import { databaseFailure, describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'

/** The month that ended may still get late records; two months ahead survive a worker that is down for weeks. */
const MONTHS_BEHIND = 1
const MONTHS_AHEAD = 2
const CHECK_INTERVAL_MS = 3_600_000
const RETRY_INTERVAL_MS = 60_000
/** The code of Postgres if the role may not create tables. */
const INSUFFICIENT_PRIVILEGE = '42501'

/** Returns after how many milliseconds to look again. */
type Keep = (sql: Sql, logger: Logger) => Promise<number>

/** From last month to two months ahead. */
export const ensurePartitions: Keep = (sql, logger) =>
  keep(sql, logger, 'usage', (transaction) => {
    return transaction`SELECT ensure_usage_partitions(
      (now() AT TIME ZONE 'UTC' - make_interval(months => ${MONTHS_BEHIND}))::date,
      ${MONTHS_BEHIND + 1 + MONTHS_AHEAD}) AS made`
  })

/** From yesterday to the day after tomorrow; drops those of more than thirty days ago, with all that is in them. */
export const keepFailurePartitions: Keep = (sql, logger) =>
  keep(sql, logger, 'failure', (transaction) => {
    return transaction`SELECT keep_failure_partitions((now() AT TIME ZONE 'UTC')::date) AS made`
  })

/**
 * A role that may not make tables is only warned about, and so is a dump that reads them: waiting for its end would block all later
 * reads and writes. Rows then go into the default partition and move once their own is made.
 */
async function keep(
  sql: Sql,
  logger: Logger,
  of: 'usage' | 'failure',
  make: (transaction: TransactionSql) => PendingQuery<Row[]>,
): Promise<number> {
  try {
    const [row] = await sql.begin(async (transaction) => {
      await transaction.unsafe(`SET LOCAL lock_timeout = ${BRIEF_LOCK_MS}`)
      return await make(transaction)
    })
    if (row?.made > 0) logger.info(`${of}_partitions_made`, { count: row?.made })
    return CHECK_INTERVAL_MS
  } catch (error) {
    const isLater = databaseFailure(error) === 'conflict' || describeFailure(error).startsWith(INSUFFICIENT_PRIVILEGE)
    if (!isLater) throw error
    logger.warn(`${of}_partitions_not_made`, { reason: describeFailure(error) })
    return RETRY_INTERVAL_MS
  }
}
