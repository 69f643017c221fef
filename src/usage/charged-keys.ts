/** Stores charged idempotency keys in Postgres, in case Redis loses its last seconds. */
import type { Sql, TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import { toMoment } from '@/db/usage-columns'
import type { UsageRecord } from '@/ledger/usage-record'

/** How long a charged idempotency key can be found. Older rows are deleted when new rows are inserted. */
const KEEP = '24 hours'
/** Maximum number of old rows that a batch deletes: more than it inserts on average. */
const MAX_DROPPED = 5_000

export type ChargedRequest = { requestId: string; keyId: string }

/** Stores the idempotency keys that `records` charge, in their transaction. Makes no query if no record has a key. */
export async function noteChargedKeys(transaction: TransactionSql, records: readonly UsageRecord[]): Promise<void> {
  const named = records.filter(({ cost, facts }) => cost > 0 && facts.idempotencyKey !== undefined)
  if (named.length === 0) return
  const texts = (value: (record: UsageRecord) => string) => textArray(named.map(value))
  await transaction`
    INSERT INTO charged_idempotency_keys AS c (account_id, key_digest, request_id, key_id, charged_at)
    SELECT DISTINCT ON (account_id, key_digest) account_id, key_digest, request_id, key_id, to_timestamp(at_ms / 1000)
    FROM unnest(
      ${texts((record) => record.accountId)}::text::text[],
      ${texts((record) => record.facts.idempotencyKey ?? '')}::text::text[],
      ${texts((record) => record.facts.requestId)}::text::text[], ${texts((record) => record.keyId)}::text::text[],
      ${plainArray(named.map(({ atMs }) => toMoment(atMs)))}::text::float8[]
    ) AS t (account_id, key_digest, request_id, key_id, at_ms)
    ORDER BY account_id, key_digest, at_ms DESC
    ON CONFLICT (account_id, key_digest) DO UPDATE
      SET request_id = excluded.request_id, key_id = excluded.key_id, charged_at = excluded.charged_at
      WHERE c.charged_at < excluded.charged_at`
  // Skips rows that a concurrent deletion has locked.
  await transaction`
    DELETE FROM charged_idempotency_keys WHERE (account_id, key_digest) IN (
      SELECT account_id, key_digest FROM charged_idempotency_keys
      WHERE charged_at < now() - ${KEEP}::text::interval
      ORDER BY charged_at LIMIT ${MAX_DROPPED} FOR UPDATE SKIP LOCKED)`
}

/** The request charged under a key (by its SHA-256) in the last 24 hours; undefined if Postgres has no such charge. */
export async function findChargedRequest(
  sql: Sql,
  accountId: string,
  keyDigest: string,
): Promise<ChargedRequest | undefined> {
  const [row] = await sql<{ request_id: string; key_id: string }[]>`
    SELECT request_id, key_id FROM charged_idempotency_keys
    WHERE account_id = ${accountId} AND key_digest = ${keyDigest} AND charged_at > now() - ${KEEP}::text::interval`
  return row && { requestId: row.request_id, keyId: row.key_id }
}
