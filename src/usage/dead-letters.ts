import type { Sql } from 'postgres'
import { ZERO_USAGE } from '@/chat/usage'
import { databaseFailure } from '@/db/failure'
import { parseRecordEnvelope, type RequestFacts, type UsageRecord } from '@/ledger/usage-record'
import type { Suspect } from './store-entries'
import { writeUsageBatch } from './write-batch'

/** Stores an invalid stream entry with the reason. If only its facts are unreadable, books its charge and returns true. Idempotent. */
export async function buryEntry(sql: Sql, suspect: Suspect): Promise<boolean> {
  const { entry, reason } = suspect
  const envelope = suspect.record ?? parseRecordEnvelope(entry.fields)
  const isBooked = envelope !== undefined && (await book(sql, { ...envelope, facts: PLACEHOLDER }))
  // JSON escapes characters that Postgres can't store in text.
  const payload = JSON.stringify(entry.fields)
  await sql`INSERT INTO dead_letters (stream, entry_id, event_id, account_id, payload, error, is_booked)
    VALUES (${entry.stream}, ${entry.id}, ${envelope?.recordId ?? null}, ${envelope?.accountId ?? null},
      ${payload}, ${reason}, ${isBooked})
    ON CONFLICT DO NOTHING`
  return isBooked
}

async function book(sql: Sql, record: UsageRecord): Promise<boolean> {
  try {
    await writeUsageBatch(sql, [record])
    return true
  } catch (error) {
    if (databaseFailure(error) !== 'data') throw error
    return false
  }
}

/** Replaces unreadable facts; their text is in the dead letter. */
const PLACEHOLDER: RequestFacts = {
  requestId: 'unknown',
  model: 'unknown',
  requestedModel: 'unknown',
  provider: 'unknown',
  upstreamModel: 'unknown',
  clientFormat: 'chat-completions',
  providerFormat: 'chat-completions',
  usage: ZERO_USAGE,
  rule: 'unreadable',
  flags: [],
  stream: false,
  status: 200,
  attempts: 1,
  startedAtMs: 0,
  firstTokenMs: null,
  durationMs: 0,
}
