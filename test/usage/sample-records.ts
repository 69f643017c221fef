/** Usage records for tests, and the fields with which the ledger's scripts append them to a stream. */
import { listText } from '@/ledger/facts-list'
import type { RedisClient } from '@/ledger/store/connection'
import { holderText, recordsName, shardOf } from '@/ledger/store/names'
import type { RequestFacts, UsageRecord } from '@/ledger/usage-record'
import { randomBase62 } from '@/lib/ids'
import { nano } from '@/lib/money'

export type RecordChanges = Partial<Omit<UsageRecord, 'facts' | 'cost' | 'held'>> & {
  cost?: number
  held?: number
  facts?: Partial<RequestFacts>
}

/** 2026-03-10T12:00:00Z: a quiet moment in the middle of a month. */
export const NOON_MS = Date.UTC(2026, 2, 10, 12)

/** A settled request of `acct_1` through `key_1` that cost 1,000 nano-USD, with what `changes` says instead. */
export function usageRecord(changes: RecordChanges = {}): UsageRecord {
  const holdId = changes.holdId ?? `hold_${randomBase62(22)}`
  return {
    recordId: holdId,
    holdId,
    accountId: 'acct_1',
    keyId: 'key_1',
    kind: 'settle',
    seq: 1,
    atMs: NOON_MS,
    flags: [],
    ...changes,
    cost: nano(changes.cost ?? 1_000),
    held: nano(changes.held ?? 5_000),
    facts: { ...SAMPLE_FACTS, ...changes.facts },
  }
}

/** The stream fields of `record`, as the scripts write them. */
export function streamFields(record: UsageRecord): string[] {
  const { holdId, kind, cost, held, seq, atMs, flags, facts } = record
  return [
    'r',
    [holdId, holderText(record), kind, cost, held, seq, atMs, flags.join(','), listText(facts, holdId)].join(' '),
  ]
}

/** Appends `records` to the streams of their shards. */
export async function appendRecords(redis: RedisClient, records: readonly UsageRecord[]): Promise<void> {
  await Promise.all(
    records.map((record) => redis.xadd(recordsName(shardOf(record.accountId)), '*', ...streamFields(record))),
  )
}

const SAMPLE_FACTS: RequestFacts = {
  requestId: 'req_sample',
  model: 'svc/alpha',
  requestedModel: 'auto-smart',
  provider: 'provider1',
  upstreamModel: 'alpha-2026-01',
  clientFormat: 'chat-completions',
  providerFormat: 'messages',
  usage: { uncached: 100, cacheRead: 20, cacheWrite5m: 3, cacheWrite1h: 4, output: 50, reasoning: 10 },
  rule: 'usage',
  flags: [],
  stream: true,
  status: 200,
  attempts: 1,
  routeReason: 'chosen; smart, easy chat (0.12), score 1.80 of 3',
  startedAtMs: NOON_MS - 900,
  firstTokenMs: 200,
  durationMs: 900,
}
