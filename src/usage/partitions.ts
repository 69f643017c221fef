/** Creates the partitions of the usage records (months) and of the failed requests (days) in advance. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import { BRIEF_LOCK_MS } from '@/db/brief-locks'
import { databaseFailure, describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'

/** Last month may still get late records; two months in advance are enough if a worker fails for weeks. */
const MONTHS_BEHIND = 1
const MONTHS_AHEAD = 2
const CHECK_INTERVAL_MS = 3_600_000
const RETRY_INTERVAL_MS = 60_000
/** Postgres' code for a role that may not create tables. */
const INSUFFICIENT_PRIVILEGE = '42501'

type Keep = (sql: Sql, logger: Logger) => Promise<number>

export const ensurePartitions: Keep = (sql, logger) =>
  keep(sql, logger, 'usage', (transaction) => {
    return transaction`SELECT ensure_usage_partitions(
      (now() AT TIME ZONE 'UTC' - make_interval(months => ${MONTHS_BEHIND}))::date,
      ${MONTHS_BEHIND + 1 + MONTHS_AHEAD}) AS made`
  })

/** Creates partitions from yesterday to the day after tomorrow, and drops those older than thirty days with their content. */
export const keepFailurePartitions: Keep = (sql, logger) =>
  keep(sql, logger, 'failure', (transaction) => {
    return transaction`SELECT keep_failure_partitions((now() AT TIME ZONE 'UTC')::date) AS made`
  })

/** Only warns if rights are missing or a dump is running, since waiting would block queries. Rows then go into the default partition. */
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
