/** Selects the batches and files that a caller may see, and sums the bytes that an account stores. */
import type { Fragment, Sql } from 'postgres'
import type { Database } from '@/db/client'
import type { Scope } from './types'

/** The condition for rows with the columns `account_id` and `made_by`. */
export function seenBy(sql: Sql, { accountId, madeBy }: Scope): Fragment {
  const isTheirs = madeBy === undefined ? sql`` : sql`AND made_by = nullif(${madeBy}, '')`
  return sql`account_id = ${accountId} ${isTheirs}`
}

/** The member who owns the key; null if the key belongs to the account. */
export async function makerOf({ sql }: Database, keyId: string): Promise<string | null> {
  const [key] = await sql<{ createdBy: string | null }[]>`
    SELECT created_by AS "createdBy" FROM api_keys WHERE id = ${keyId}`
  return key?.createdBy ?? null
}

/** Bytes that each line, file and batch counts in addition to its content, so that many empty ones also use storage. */
export const ROW_BYTES = 256

/** The bytes of an account's files, lines and results. */
export async function usedBytes({ sql }: Database, accountId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`SELECT ${usedBytesOf(sql, sql`${accountId}::text`)}::bigint AS bytes`
  return row?.bytes ?? 0
}

/** The bytes of {@link usedBytes} as an SQL expression; `account` is a column or a parameter. */
export function usedBytesOf(sql: Sql, account: Fragment): Fragment {
  return sql`((SELECT coalesce(sum(f.bytes + ${ROW_BYTES}), 0) FROM batch_files f WHERE f.account_id = ${account})
    + (SELECT coalesce(sum(b.bytes + ${ROW_BYTES}), 0) FROM batches b WHERE b.account_id = ${account}))`
}
