/** The condition by which somebody sees their own requests alone, of records and of daily sums. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'

/**
 * ` AND … `, of an account's rows with a `member_id`. The keys of these requests lead to them among millions of records. An empty
 * `person` has none.
 */
export function ofPerson(sql: Sql | TransactionSql, accountId: string, person: string): PendingQuery<Row[]> {
  return sql`AND member_id = nullif(${person}, '')
    AND key_id IN (SELECT key_id FROM usage_daily WHERE account_id = ${accountId} AND member_id = nullif(${person}, ''))`
}
