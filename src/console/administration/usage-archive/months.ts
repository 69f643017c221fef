/** Months of usage records: their names, their tables and their state. */
import type { Database } from '@/db/client'

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/

/** State of a month's records. `sealed`: still in the live table, but read-only. */
type ArchivedState = 'sealed' | 'archived' | 'dropped'

export type ArchivedMonth = {
  /** yyyy-mm, UTC. */
  month: string
  state: ArchivedState
  records: number
  accounts: number
  /** An exact decimal text: a sum over all accounts may exceed one account's range. */
  chargedUsd: string
  digest: string
  table: string | null
  bytes: number | null
  archivedAt: Date | null
  droppedAt: Date | null
}

/** Whether `text` is a month, yyyy-mm. */
export function isMonth(text: string): boolean {
  return MONTH.test(text)
}

/** The start of a month, milliseconds since 1970. */
export function startOf(month: string): number {
  return Date.parse(`${month}-01T00:00:00Z`)
}

/** The following month. */
export function monthAfter(month: string): string {
  const start = new Date(startOf(month))
  return monthOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1))
}

/** The month (UTC) of a time. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}

/** Name of a month's live table. */
export function liveTable(month: string): string {
  return `usage_records_${month.replace('-', '')}`
}

/** Name of a month's archived table. */
export function archivedTable(month: string): string {
  return `archived_usage_records_${month.replace('-', '')}`
}

/** The `FOR VALUES …` clause of a month's partition. */
export function bounds(month: string): string {
  return `FOR VALUES FROM ('${month}-01 00:00:00+00') TO ('${monthAfter(month)}-01 00:00:00+00')`
}

/** Every month with checkpoints, oldest first. */
export async function listArchive({ sql }: Pick<Database, 'sql'>): Promise<ArchivedMonth[]> {
  const rows = await sql<MonthRow[]>`
    SELECT to_char(month, 'YYYY-MM') AS month, records, accounts, trim_scale(charges_nano * 0.000000001)::text AS "chargedUsd",
      digest, c.oid::regclass::text AS table, pg_total_relation_size(c.oid)::bigint AS bytes, 
      (extract(epoch FROM archived_at) * 1000)::bigint AS "archivedMs", (extract(epoch FROM dropped_at) * 1000)::bigint AS "droppedMs"
    FROM archived_months m LEFT JOIN (pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
        AND i.inhparent IN ('usage_records'::regclass, 'archived_usage_records'::regclass))
      ON c.relname = CASE WHEN archived_at IS NULL THEN '' ELSE 'archived_' END || 'usage_records_' || to_char(month, 'YYYYMM')
    ORDER BY month`
  return rows.map(({ archivedMs, droppedMs, ...row }) => ({
    ...row,
    state: archivedMs === null ? 'sealed' : row.table === null ? 'dropped' : 'archived',
    archivedAt: dateOf(archivedMs),
    droppedAt: dateOf(droppedMs),
  }))
}

type MonthRow = Omit<ArchivedMonth, 'state' | 'archivedAt' | 'droppedAt'> & {
  archivedMs: number | null
  droppedMs: number | null
}

/** Months whose records are read-only but still in the live table, oldest first. */
export async function closedMonths({ sql }: Pick<Database, 'sql'>): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    SELECT DISTINCT to_char(to_date(right(relname, 6), 'YYYYMM'), 'YYYY-MM') AS month
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_trigger ON tgrelid = c.oid
    WHERE inhparent = 'usage_records'::regclass AND relname ~ '^usage_records_[0-9]{6}$' AND tgname LIKE 'closed_month_%'
    ORDER BY month`
  return rows.map(({ month }) => month)
}

/**
 * Live months before `before`, oldest first, including months whose table is still missing (their records are in the default partition).
 */
export async function liveMonths({ sql }: Pick<Database, 'sql'>, before: string): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    SELECT to_char(to_date(right(relname, 6), 'YYYYMM'), 'YYYY-MM') AS month FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
    WHERE inhparent = 'usage_records'::regclass AND relname ~ '^usage_records_[0-9]{6}$'
    UNION SELECT DISTINCT to_char(settled_at AT TIME ZONE 'UTC', 'YYYY-MM') FROM usage_records_default
    ORDER BY month`
  return rows.map(({ month }) => month).filter((month) => month < before)
}

function dateOf(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs)
}
