/** The statement that writes usage records into the history, thousands at a time, whatever of them is there already. */
import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import { usageColumns } from '@/db/schema'
import type { Cell } from '@/db/usage-columns'
import type { UsageRecord } from '@/ledger/usage-record'

/** How far apart in time two settlements of one record can be: a ledger restored from a backup may settle it once more. */
const REPEAT_WINDOW = '7 days'

/** What is written of a record, in the order of {@link usageColumns}. */
export const NAMES = usageColumns.map(({ name }) => name).join(', ')
const TYPED = usageColumns.map(({ name, type }) => `${name}::${type}`).join(', ')

/**
 * Inserts one row per record, in the order given, and returns those that were not there yet. No two records may share an id.
 * The server names the new ones only where some were not: nearly always all are.
 *
 * The primary key alone would let the same record in again with another time; the look-up of the days around the batch
 * refuses that. It is one index scan for all ids, which the partitions of other months take no part in.
 *
 * A late charge is the difference to what its hold was charged at its expiry. Where the hold was settled instead, by a store
 * that has forgotten it since, there is nothing to correct.
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

/** Those of `records` that are there already, whatever their time: one index scan over the days around the batch. */
export function repeatsOf(transaction: TransactionSql, records: readonly UsageRecord[]) {
  const moments = records.map((record) => record.atMs)
  return transaction`SELECT r.event_id FROM usage_records r
    WHERE r.event_id = ANY(${textArray(records.map((record) => record.recordId))}::text::text[])
      AND r.settled_at > to_timestamp(${Math.min(...moments)}::text::float8 / 1000) - ${REPEAT_WINDOW}::text::interval
      AND r.settled_at < to_timestamp(${Math.max(...moments)}::text::float8 / 1000) + ${REPEAT_WINDOW}::text::interval`
}

function cellText(cell: Cell): string | null {
  return cell === null || cell === undefined ? null : String(cell)
}
