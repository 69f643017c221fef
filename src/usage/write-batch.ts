import type { Sql, TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import { databaseFailure } from '@/db/failure'
import type { UsageRecord } from '@/ledger/usage-record'
import { withoutArchived } from './archived-records'
import { noteChargedKeys } from './charged-keys'
import { copyRecords, insertRecords } from './insert-records'
import { moveTags } from './tag-sums'
import { addThrownAway } from './thrown-away'
import { type AccountTotal, type DayTotal, type KeyTotal, type MemberTotal, totalsOf } from './totals'
import { withKeyLabels } from './with-key-labels'

/**
 * Writes usage records to Postgres in one transaction, in which only new records change totals. Inserts `records` and updates the balances,
 * monthly sums and daily sums for new ones. Returns their number. All or nothing; repeating it with the same records changes nothing. Rows
 * are locked in the order of their ids in every table, so that two writers can't deadlock. (The arrays are sorted, and
 * so short that every plan keeps their order. If not, Postgres aborts one writer of a deadlock, which repeats its transaction.)
 */
export async function writeUsageBatch(sql: Sql, records: readonly UsageRecord[]): Promise<number> {
  const batch = withoutRepeats(records)
  if (batch.length === 0) return 0
  try {
    return await writeOnce(sql, batch, 'copy')
  } catch (error) {
    // A row written concurrently makes COPY fail; INSERT then shows which row is invalid.
    if (databaseFailure(error) !== 'data') throw error
    return await writeOnce(sql, batch, 'insert')
  }
}

async function writeOnce(sql: Sql, batch: readonly UsageRecord[], way: 'copy' | 'insert'): Promise<number> {
  return await sql.begin(async (transaction) => {
    const candidates = await withoutArchived(transaction, batch)
    if (candidates.length === 0) return 0
    const rows = await withKeyLabels(transaction, candidates)
    const isCopied = way === 'copy' && (await copyRecords(transaction, rows))
    const fresh = isCopied ? rows : await insertRecords(transaction, rows)
    if (fresh.length === 0) return 0
    const totals = await totalsOf(fresh)
    // One after another, so that requests are served between two long lists of parameters.
    await moveAccounts(transaction, totals.accounts)
    await moveKeys(transaction, totals.keys)
    await moveDays(transaction, totals.days)
    if (totals.members.length > 0) await moveMembers(transaction, totals.members)
    if (totals.tags.length > 0) await moveTags(transaction, totals.tags)
    await noteChargedKeys(transaction, fresh)
    await addThrownAway(transaction, fresh)
    return fresh.length
  })
}

function withoutRepeats(records: readonly UsageRecord[]): UsageRecord[] {
  const byId = new Map(records.map((record) => [record.recordId, record]))
  // Sorting texts without a function of ours takes a quarter of the time.
  return [...byId.keys()].sort().flatMap((id) => byId.get(id) ?? [])
}

function moveAccounts(transaction: TransactionSql, unordered: readonly AccountTotal[]): Promise<unknown> {
  const totals = inOrder(unordered, (total) => total.accountId)
  const ids = textArray(totals.map((total) => total.accountId))
  return transaction`
      UPDATE accounts a SET
        balance_nano = a.balance_nano - t.cost,
        spent_nano = a.spent_nano + t.cost,
        spent_month_nano = CASE WHEN t.month > a.spent_month THEN t.month_cost
          WHEN t.month = a.spent_month THEN a.spent_month_nano + t.month_cost ELSE a.spent_month_nano END,
        spent_month = greatest(a.spent_month, t.month),
        ledger_seq = greatest(a.ledger_seq, t.seq)
      FROM unnest(${ids}::text::text[], ${plainArray(totals.map((total) => total.cost))}::text::bigint[],
        ${plainArray(totals.map((total) => total.month))}::text::integer[],
        ${plainArray(totals.map((total) => total.monthCost))}::text::bigint[],
        ${plainArray(totals.map((total) => total.seq))}::text::bigint[]) AS t (id, cost, month, month_cost, seq)
      WHERE a.id = t.id`
}

function moveKeys(transaction: TransactionSql, unordered: readonly KeyTotal[]): Promise<unknown> {
  const totals = inOrder(unordered, (total) => total.keyId)
  const ids = textArray(totals.map((total) => total.keyId))
  return transaction`
      UPDATE api_keys k SET
        spent_month_nano = CASE WHEN t.month > k.spent_month THEN t.month_cost
          WHEN t.month = k.spent_month THEN k.spent_month_nano + t.month_cost ELSE k.spent_month_nano END,
        spent_month = greatest(k.spent_month, t.month),
        last_used_at = greatest(k.last_used_at, to_timestamp(t.last_used_ms / 1000))
      FROM unnest(${ids}::text::text[], ${plainArray(totals.map((total) => total.month))}::text::integer[],
        ${plainArray(totals.map((total) => total.monthCost))}::text::bigint[],
        ${plainArray(totals.map((total) => total.lastUsedMs))}::text::float8[]) AS t (id, month, month_cost, last_used_ms)
      WHERE k.id = t.id`
}

function moveDays(transaction: TransactionSql, totals: readonly DayTotal[]): Promise<unknown> {
  const numbers = (value: (total: DayTotal) => number | null) => plainArray(totals.map(value))
  const texts = (value: (total: DayTotal) => string) => textArray(totals.map(value))
  return transaction`
    INSERT INTO usage_daily AS d (account_id, day, key_id, model, requests, errors,
      uncached_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
      cost_nano, duration_ms, first_token_ms, first_token_count, provider_cost_nano, costed_nano, member_id)
    SELECT * FROM unnest(
      ${texts((total) => total.accountId)}::text::text[], ${texts((total) => total.day)}::text::date[],
      ${texts((total) => total.keyId)}::text::text[], ${texts((total) => total.model)}::text::text[],
      ${numbers((total) => total.requests)}::text::bigint[], ${numbers((total) => total.errors)}::text::bigint[],
      ${numbers((total) => total.uncached)}::text::bigint[], ${numbers((total) => total.cacheRead)}::text::bigint[],
      ${numbers((total) => total.cacheWrite5m)}::text::bigint[], ${numbers((total) => total.cacheWrite1h)}::text::bigint[],
      ${numbers((total) => total.output)}::text::bigint[], ${numbers((total) => total.reasoning)}::text::bigint[],
      ${numbers((total) => total.cost)}::text::bigint[], ${numbers((total) => total.durationMs)}::text::bigint[],
      ${numbers((total) => total.firstTokenMs)}::text::bigint[], ${numbers((total) => total.firstTokenCount)}::text::bigint[],
      ${numbers((total) => total.providerCost)}::text::bigint[], ${numbers((total) => total.costed)}::text::bigint[],
      ${texts((total) => total.memberId)}::text::text[]
    ) AS t (account_id, day, key_id, model, requests, errors, uncached, cache_read, cache_write_5m, cache_write_1h, output,
      reasoning, cost, duration, first_token, first_tokens, provider_cost, costed, member_id)
    ORDER BY account_id, day, key_id, model, member_id
    ON CONFLICT (account_id, day, key_id, model, member_id) DO UPDATE SET
      requests = d.requests + excluded.requests, errors = d.errors + excluded.errors,
      uncached_tokens = d.uncached_tokens + excluded.uncached_tokens,
      cache_read_tokens = d.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_5m_tokens = d.cache_write_5m_tokens + excluded.cache_write_5m_tokens,
      cache_write_1h_tokens = d.cache_write_1h_tokens + excluded.cache_write_1h_tokens,
      output_tokens = d.output_tokens + excluded.output_tokens,
      reasoning_tokens = d.reasoning_tokens + excluded.reasoning_tokens,
      cost_nano = d.cost_nano + excluded.cost_nano, duration_ms = d.duration_ms + excluded.duration_ms,
      first_token_ms = d.first_token_ms + excluded.first_token_ms,
      first_token_count = d.first_token_count + excluded.first_token_count,
      provider_cost_nano = coalesce(d.provider_cost_nano + excluded.provider_cost_nano, d.provider_cost_nano, excluded.provider_cost_nano),
      costed_nano = coalesce(d.costed_nano + excluded.costed_nano, d.costed_nano, excluded.costed_nano)`
}

function moveMembers(transaction: TransactionSql, totals: readonly MemberTotal[]): Promise<unknown> {
  const texts = (value: (total: MemberTotal) => string) => textArray(totals.map(value))
  return transaction`
    INSERT INTO usage_daily_members AS d (account_id, day, member_id, requests, cost_nano)
    SELECT * FROM unnest(
      ${texts((total) => total.accountId)}::text::text[], ${texts((total) => total.day)}::text::date[],
      ${texts((total) => total.memberId)}::text::text[],
      ${plainArray(totals.map((total) => total.requests))}::text::bigint[],
      ${plainArray(totals.map((total) => total.cost))}::text::bigint[]
    ) AS t (account_id, day, member_id)
    ORDER BY account_id, member_id, day
    ON CONFLICT (account_id, member_id, day) DO UPDATE SET
      requests = d.requests + excluded.requests, cost_nano = d.cost_nano + excluded.cost_nano`
}

/** Sorted by the code units of the ids. All writers use the same order, to avoid deadlocks. */
function inOrder<T>(values: readonly T[], idOf: (value: T) => string): T[] {
  return values.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
}
