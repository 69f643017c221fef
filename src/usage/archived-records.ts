/** Prevents booking records of archived months again. */
import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import { ARCHIVE_MIN_AGE_DAYS } from '@/db/usage-archive'
import type { UsageRecord } from '@/ledger/usage-record'

/** A day less than the minimum age of archived months, in case the clocks of gateway, ledger and Postgres differ. */
const OLD_MS = (ARCHIVE_MIN_AGE_DAYS - 1) * 86_400_000

/**
 * `records` without those of an archived month, and without late charges of holds settled in such a month. Queries only for old or late
 * records. If a month's records were dropped, Postgres refuses any of its records (`usage_records_not_archived`): they become dead letters
 * for a person.
 */
export async function withoutArchived(
  transaction: TransactionSql,
  records: readonly UsageRecord[],
): Promise<readonly UsageRecord[]> {
  const oldest = Date.now() - OLD_MS
  const ids = [
    ...records.filter(({ atMs }) => atMs < oldest).map(({ recordId }) => recordId),
    ...records.filter(({ kind }) => kind === 'late').map(({ holdId }) => holdId),
  ]
  if (ids.length === 0) return records
  const rows = await transaction<{ event_id: string; kind: UsageRecord['kind'] }[]>`
    SELECT event_id, kind FROM archived_usage_records WHERE event_id = ANY(${textArray(ids)}::text::text[])`
  if (rows.length === 0) return records
  const known = new Map(rows.map((row) => [row.event_id, row.kind]))
  return records.filter(
    ({ recordId, holdId, kind }) => !known.has(recordId) && !(kind === 'late' && known.get(holdId) === 'settle'),
  )
}
