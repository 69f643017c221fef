import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'

/**
 * An SQL condition ` AND … ` for a person's own requests. Filtering by the keys of these requests lets an index be used. An empty `person`
 * has no requests.
 */
export function ofPerson(sql: Sql | TransactionSql, accountId: string, person: string): PendingQuery<Row[]> {
  return sql`AND member_id = nullif(${person}, '')
    AND key_id IN (SELECT key_id FROM usage_daily WHERE account_id = ${accountId} AND member_id = nullif(${person}, ''))`
}
