import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import type { UsageRecord } from '@/ledger/usage-record'
import { withFixedTags } from './tags'

type KeyRow = { id: string; tags: string }

/** Adds to each record the current tags of its key. Records stay in order; records of a key without tags are unchanged. */
export async function withKeyLabels(
  transaction: TransactionSql,
  records: readonly UsageRecord[],
): Promise<readonly UsageRecord[]> {
  const keyIds = [...new Set(records.map(({ keyId }) => keyId))]
  const rows = await transaction<KeyRow[]>`SELECT id, array_to_string(tags, ',') AS tags
    FROM api_keys
    WHERE id = ANY(${textArray(keyIds)}::text::text[]) AND tags IS NOT NULL`
  if (rows.length === 0) return records
  const keys = new Map(rows.map((row) => [row.id, row]))
  return records.map((record) => {
    const key = keys.get(record.keyId)
    return key ? labelled(record, key) : record
  })
}

function labelled(record: UsageRecord, { tags }: KeyRow): UsageRecord {
  if (tags === '') return record
  const { facts } = record
  const labels = { ...facts.labels, tags: withFixedTags(tags.split(','), facts.labels?.tags) }
  return { ...record, facts: { ...facts, labels } }
}
