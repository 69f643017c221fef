/** Writes usage records by the thousand: by INSERT if some may exist, or by COPY if none does. */
import { pipeline } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import { usageColumns } from '@/db/schema'
import type { Cell } from '@/db/usage-columns'
import { LATEST_MS, type UsageRecord } from '@/ledger/usage-record'
import { slicesOf } from '@/lib/wait/slices'
import { RECORDS_PER_TURN } from './totals'

/** The maximum time between two settlements of one record: a ledger restored from a backup may settle it again. */
const REPEAT_WINDOW = '7 days'

/** The written columns, in the order of {@link usageColumns}. */
const NAMES = usageColumns.map(({ name }) => name).join(', ')
const TYPED = usageColumns.map(({ name, type }) => `${name}::${type}`).join(', ')

/**
 * Inserts one row per record in the given order, and returns the new ones. No two records may share an id. The ids of new ones are returned
 * by Postgres only if some were not new, which is rare. The primary key alone would allow the same record with another time; the lookup in
 * the days around the batch prevents that, with one index scan that skips other months' partitions. A late charge is the difference to its
 * hold's charge at expiry. If the hold was settled instead, by a Redis that has forgotten it since, there is nothing to correct.
 */
export async function insertRecords(
  transaction: TransactionSql,
  records: readonly UsageRecord[],
): Promise<readonly UsageRecord[]> {
  const lateHoldIds = textArray(records.filter(({ kind }) => kind === 'late').map(({ holdId }) => holdId))
  const cells = usageColumns.map(
    ({ cell }) =>
      transaction`${textArray(records.map((record) => cellText(cell(record.facts, record))))}::text::text[]`,
  )
  const [inserted] = await transaction<{ count: number; ids: string[] | null }[]>`
    WITH inserted AS (INSERT INTO usage_records (${transaction.unsafe(NAMES)})
    SELECT ${transaction.unsafe(TYPED)} FROM unnest(${cells.reduce((one, other) => transaction`${one}, ${other}`)}) AS e (${transaction.unsafe(NAMES)})
    WHERE event_id NOT IN (${repeatsOf(transaction, records)})
      AND (kind <> 'late' OR hold_id NOT IN (
        SELECT r.event_id FROM usage_records r WHERE r.event_id = ANY(${lateHoldIds}::text::text[]) AND r.kind = 'settle'))
    ON CONFLICT DO NOTHING
    RETURNING event_id)
    SELECT count(*)::integer AS count, CASE WHEN count(*) < ${records.length}::integer THEN json_agg(event_id) END AS ids
    FROM inserted`
  if (inserted?.count === records.length) return records
  const fresh = new Set(inserted?.ids)
  return records.filter((record) => fresh.has(record.recordId))
}

/** The `records` that already exist with any time: one index scan over the days around the batch. */
function repeatsOf(transaction: TransactionSql, records: readonly UsageRecord[]) {
  const moments = records.map((record) => record.atMs)
  return transaction`SELECT r.event_id FROM usage_records r
    WHERE r.event_id = ANY(${textArray(records.map((record) => record.recordId))}::text::text[])
      AND r.settled_at > to_timestamp(${Math.min(...moments)}::text::float8 / 1000) - ${REPEAT_WINDOW}::text::interval
      AND r.settled_at < to_timestamp(${Math.max(...moments)}::text::float8 / 1000) + ${REPEAT_WINDOW}::text::interval`
}

function cellText(cell: Cell): string | null {
  return cell === null || cell === undefined ? null : String(cell)
}

const CELLS = usageColumns.map(({ cell }) => cell)
const NULL = '\\N'

/** Writes all `records`. Or writes none and returns false, if one may exist or depends on others. Rejects on a refused row. */
export async function copyRecords(transaction: TransactionSql, records: readonly UsageRecord[]): Promise<boolean> {
  if (!records.every(isOrdinary)) return false
  const [repeat] = await transaction`${repeatsOf(transaction, records)} LIMIT 1`
  if (repeat) return false
  const stream = await transaction`COPY usage_records (${transaction.unsafe(NAMES)}) FROM STDIN`.writable()
  await pipeline(linesOf(records), stream)
  return true
}

/** Whether COPY can write a record. Late charges depend on the corrected record, and INSERT handles invalid dates. */
function isOrdinary({ kind, atMs }: UsageRecord): boolean {
  return kind !== 'late' && atMs >= 0 && atMs <= LATEST_MS
}

async function* linesOf(records: readonly UsageRecord[]): AsyncGenerator<string> {
  for await (const slice of slicesOf(records, RECORDS_PER_TURN)) yield slice.map(lineOf).join('')
}

function lineOf(record: UsageRecord): string {
  return `${CELLS.map((cell) => copied(cell(record.facts, record))).join('\t')}\n`
}

function copied(cell: Cell): string | number | boolean {
  return typeof cell === 'string' ? escaped(cell) : (cell ?? NULL)
}

const NEEDS_ESCAPE = /[\\\t\n\r\0]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '' }

/** As text for COPY. NUL characters, which Postgres can't store in text, are removed. */
function escaped(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/[\\\t\n\r\0]/g, (sign) => ESCAPES[sign] ?? '') : text
}
