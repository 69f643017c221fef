import type { TransactionSql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import { MAX_DAILY_TAGS } from '@/db/usage-sums/tag-sums'
import type { TagTotal } from './totals'

/** Writes daily sums by tags: a row per set of tags. Sets beyond a daily limit share one row. Concurrent writers may exceed the limit. */
export function moveTags(transaction: TransactionSql, totals: readonly TagTotal[]): Promise<unknown> {
  const numbers = (value: (total: TagTotal) => number) => plainArray(totals.map(value))
  const texts = (value: (total: TagTotal) => string) => textArray(totals.map(value))
  return transaction`
    WITH added AS (SELECT t.*, EXISTS (SELECT FROM usage_daily_tags u
        WHERE u.account_id = t.account_id AND u.day = t.day AND u.tags = t.tags) AS is_known
      FROM unnest(
        ${texts((total) => total.accountId)}::text::text[], ${texts((total) => total.day)}::text::date[],
        ${texts((total) => total.tags)}::text::text[], ${texts((total) => total.model)}::text::text[],
        ${numbers((total) => total.requests)}::text::bigint[], ${numbers((total) => total.errors)}::text::bigint[],
        ${numbers((total) => total.input)}::text::bigint[], ${numbers((total) => total.output)}::text::bigint[],
        ${numbers((total) => total.cost)}::text::bigint[]
      ) AS t (account_id, day, tags, model, requests, errors, input, output, cost)),
    before AS (SELECT u.account_id, u.day, count(DISTINCT u.tags) AS combinations
      FROM (SELECT DISTINCT account_id, day FROM added WHERE NOT is_known) AS a
      JOIN usage_daily_tags u USING (account_id, day) WHERE u.tags <> '' GROUP BY 1, 2),
    placed AS (SELECT added.*, is_known OR coalesce(combinations, 0) +
        dense_rank() OVER (PARTITION BY account_id, day, is_known ORDER BY tags) <= ${MAX_DAILY_TAGS}::text::bigint AS has_own
      FROM added LEFT JOIN before USING (account_id, day))
    INSERT INTO usage_daily_tags AS d (account_id, day, tags, model, requests, errors, input_tokens, output_tokens, cost_nano)
    SELECT account_id, day, CASE WHEN has_own THEN tags ELSE '' END, model,
      sum(requests), sum(errors), sum(input), sum(output), sum(cost)
    FROM placed GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, day, tags, model) DO UPDATE SET
      requests = d.requests + excluded.requests, errors = d.errors + excluded.errors,
      input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
      cost_nano = d.cost_nano + excluded.cost_nano`
}
