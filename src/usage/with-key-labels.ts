/** What a usage record has of its key, as it is when the record is booked: the member whose key it is, and the tags fixed on it. */
import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import type { UsageRecord } from '@/ledger/usage-record'
import { withFixedTags } from './tags'

type KeyRow = { id: string; created_by: string | null; tags: string | null }

/** `records` in their order; those of a key that has neither are the same. */
export async function withKeyLabels(
  transaction: TransactionSql,
  records: readonly UsageRecord[],
): Promise<readonly UsageRecord[]> {
  const keyIds = [...new Set(records.map(({ keyId }) => keyId))]
  const rows = await transaction<KeyRow[]>`SELECT id, created_by, array_to_string(tags, ',') AS tags
    FROM api_keys
    WHERE id = ANY(${textArray(keyIds)}::text::text[]) AND (created_by IS NOT NULL OR tags IS NOT NULL)`
  if (rows.length === 0) return records
  const keys = new Map(rows.map((row) => [row.id, row]))
  return records.map((record) => {
    const key = keys.get(record.keyId)
    return key ? labelled(record, key) : record
  })
}

function labelled(record: UsageRecord, { created_by, tags }: KeyRow): UsageRecord {
  const memberId = record.memberId ?? created_by ?? undefined
  if (!tags) return { ...record, memberId }
  const { facts } = record
  const labels = { ...facts.labels, tags: withFixedTags(tags.split(','), facts.labels?.tags) }
  return { ...record, memberId, facts: { ...facts, labels } }
}
