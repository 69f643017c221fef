/** The cheapest way of usage records into the history: COPY, for a batch of which nothing is there yet. */
import type { TransactionSql } from 'postgres'
import { textArray } from '@/db/array-literal'
import { chargeBasis } from '@/ledger/charge-basis'
import type { UsageRecord } from '@/ledger/usage-record'
import { allFlags, LATEST_MS, repeatsOf, toInt4, toMoment } from './insert-records'
import { providerCostOf } from './totals'

/** In the order of {@link lineOf}. */
const COLUMNS = `event_id, hold_id, account_id, key_id, kind, cost_nano, held_nano, seq, settled_at,
  request_id, model, requested_model, provider, upstream_model, client_format, provider_format,
  uncached_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
  rule, flags, stream, status, attempts, started_at, first_token_ms, duration_ms, route_reason, tool_charges,
  provider_cost_nano, charge_basis, count_gaps,
  provider_input_tokens, provider_output_tokens, local_input_tokens, local_output_tokens`
const NULL = '\\N'

/**
 * Writes all of `records`, or none and returns false: where one of them may be there already, or depends on what is (late charges).
 * Rejects where a row is refused, or another writer has brought one meanwhile; the transaction is over then.
 */
export async function copyRecords(transaction: TransactionSql, records: readonly UsageRecord[]): Promise<boolean> {
  if (!records.every(isOrdinary)) return false
  const [repeat] = await transaction`${repeatsOf(transaction, records)} LIMIT 1`
  if (repeat) return false
  const stream = await transaction`COPY usage_records (${transaction.unsafe(COLUMNS)}) FROM STDIN`.writable()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.on('error', reject)
  stream.on('finish', resolve)
  stream.end(records.map(lineOf).join(''))
  await promise
  return true
}

/** Late charges are compared with what they correct; a moment that no date can hold is for the other statement to judge. */
function isOrdinary({ kind, atMs }: UsageRecord): boolean {
  return kind !== 'late' && atMs >= 0 && atMs <= LATEST_MS
}

function lineOf(record: UsageRecord): string {
  const { facts, recordId, holdId, accountId, keyId, kind, cost, held, seq, atMs } = record
  const { usage, counts } = facts
  const flags = allFlags(record)
  return `${[
    ...[
      escaped(recordId),
      escaped(holdId),
      escaped(accountId),
      escaped(keyId),
      kind,
      cost,
      held,
      seq,
      momentText(atMs),
    ],
    ...[escaped(facts.requestId), escaped(facts.model), escaped(facts.requestedModel), escaped(facts.provider)],
    ...[escaped(facts.upstreamModel), escaped(facts.clientFormat), escaped(facts.providerFormat)],
    ...[usage.uncached, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.output, usage.reasoning],
    ...[escaped(facts.rule), listText(flags), facts.stream, toInt4(facts.status), toInt4(facts.attempts)],
    momentText(toMoment(facts.startedAtMs)),
    ...[facts.firstTokenMs === null ? NULL : toInt4(facts.firstTokenMs), toInt4(facts.durationMs)],
    escaped(facts.routeReason ?? '') || NULL,
    facts.tools ? escaped(JSON.stringify(facts.tools)) : NULL,
    ...[providerCostOf(record) ?? NULL, chargeBasis(record)],
    counts && counts.gaps.length > 0 ? listText(counts.gaps) : NULL,
    ...[counts?.providerInput ?? NULL, counts?.providerOutput ?? NULL, counts?.localInput ?? NULL],
    counts?.localOutput ?? NULL,
  ].join('\t')}\n`
}

function listText(words: readonly string[]): string {
  return words.length === 0 ? '{}' : escaped(textArray(words))
}

/** Moments of a batch lie within a second or two: the part before the milliseconds is made once. */
let lastSecond = -1
let lastText = ''

function momentText(atMs: number): string {
  const second = Math.floor(atMs / 1_000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = new Date(second * 1_000).toISOString().slice(0, 19)
  }
  return `${lastText}.${String(atMs - second * 1_000).padStart(3, '0')}Z`
}

const NEEDS_ESCAPE = /[\\\t\n\r\0]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '' }

/** As COPY reads text. NUL characters, which Postgres can't store in text, are left out. */
function escaped(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/[\\\t\n\r\0]/g, (sign) => ESCAPES[sign] ?? '') : text
}
