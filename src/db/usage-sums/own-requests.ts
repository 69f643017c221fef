import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'

/**
 * An SQL condition ` AND … ` for a person's own requests. It also compares the requests' keys, so that Postgres can use an index. If
 * `person` is empty, no request matches.
 */
export function ofPerson(sql: Sql | TransactionSql, accountId: string, person: string): PendingQuery<Row[]> {
  return sql`AND member_id = nullif(${person}, '')
    AND key_id IN (SELECT key_id FROM usage_daily WHERE account_id = ${accountId} AND member_id = nullif(${person}, ''))`
}
