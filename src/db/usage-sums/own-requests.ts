/** The SQL condition for a person's own requests, for records and daily sums. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'

/**
 * ` AND … `, for an account's rows with a `member_id`. Filtering by the keys of these requests lets an index be used. An empty `person` has
 * no requests.
 */
export function ofPerson(sql: Sql | TransactionSql, accountId: string, person: string): PendingQuery<Row[]> {
  return sql`AND member_id = nullif(${person}, '')
    AND key_id IN (SELECT key_id FROM usage_daily WHERE account_id = ${accountId} AND member_id = nullif(${person}, ''))`
}
