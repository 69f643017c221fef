import type { SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database, Transaction } from './client'

/** Finds a row of `table` for which `condition` is true; undefined if there is none. */
export async function findRow<Table extends PgTable>(
  db: Database['db'] | Transaction,
  table: Table,
  condition: SQL | undefined,
): Promise<Table['$inferSelect'] | undefined> {
  const rows = await db
    .select()
    .from(table as PgTable)
    .where(condition)
    .limit(1)
  return rows[0]
}
