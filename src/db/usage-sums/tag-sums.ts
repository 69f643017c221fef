/** Daily sums by the combination of all tags of a request, for reports and charts. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'

/** Maximum combinations of tags that have their own sums, per account and day. */
export const MAX_DAILY_TAGS = 500

/** If a day has more than {@link MAX_DAILY_TAGS} combinations, the rest is summed under this name. Tags contain no blanks. */
export const OTHER_TAGS = 'other tags'

type Days = {
  accountId: string
  /** Days, yyyy-mm-dd, UTC, inclusive. */
  from: string
  to: string
}

/** Rows by day and tags (null: no tags; '': combinations beyond the maximum). All rows together equal the daily sums. */
export function sumsByTags(sql: Sql | TransactionSql, { accountId, from, to }: Days): PendingQuery<Row[]> {
  const within = sql`account_id = ${accountId} AND day BETWEEN ${from}::text::date AND ${to}::text::date`
  return sql`(
    SELECT day, tags, model, requests, errors, input_tokens::bigint AS input, output_tokens::bigint AS output, cost_nano::bigint AS cost
      FROM usage_daily_tags WHERE ${within}
    UNION ALL
    SELECT day, NULL, model, sum(requests), sum(errors), sum(input), sum(output), sum(cost)
      FROM (SELECT day, model, requests, errors, output_tokens::bigint AS output, cost_nano::bigint AS cost,
          (uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint AS input
        FROM usage_daily WHERE ${within}
        UNION ALL
        SELECT day, model, -requests, -errors, -output_tokens::bigint, -cost_nano::bigint, -input_tokens::bigint
        FROM usage_daily_tags WHERE ${within}) AS untagged
      GROUP BY day, model HAVING sum(requests) <> 0 OR sum(cost) <> 0)`
}
