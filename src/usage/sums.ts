/** Usage for operators: requests, tokens and charges of some days by day, model, account or key. */
import type { Database } from '@/db/client'

export const SUMMED_BY = ['day', 'model', 'account', 'key'] as const

type UsageSumSearch = {
  by: (typeof SUMMED_BY)[number]
  /** The number of days up to today, UTC. */
  days: number
  accountId?: string
  keyId?: string
  model?: string
}

/** `chargedUsd` is exact decimal text, since sums over all accounts may exceed the limit of one account. */
type UsageSum = { requests: number; errors: number; inputTokens: number; outputTokens: number; chargedUsd: string }

type SumRow = UsageSum & { place: string | null }

type UsageReport = { from: string; total: UsageSum; groups: (UsageSum & { place: string })[] }

const NOTHING: UsageSum = { requests: 0, errors: 0, inputTokens: 0, outputTokens: 0, chargedUsd: '0' }
const MS_PER_DAY = 86_400_000
const MAX_GROUPS = 1_000

/** Sums up to the day of `nowMs`; at most 1,000 groups, the newest days or otherwise the highest charges first. */
export async function sumUsage({ sql }: Database, search: UsageSumSearch, nowMs: number): Promise<UsageReport> {
  const { by, days, accountId, keyId, model } = search
  const from = new Date(nowMs - (days - 1) * MS_PER_DAY).toISOString().slice(0, 10)
  const place = { day: sql`day::text`, model: sql`model`, account: sql`account_id`, key: sql`key_id` }[by]
  const rows = await sql<SumRow[]>`
    SELECT place, coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(errors), 0)::bigint AS errors,
      coalesce(sum(input), 0)::bigint AS "inputTokens", coalesce(sum(output_tokens), 0)::bigint AS "outputTokens",
      trim_scale(coalesce(sum(cost_nano), 0)::numeric * 0.000000001)::text AS "chargedUsd"
    FROM (SELECT ${place} AS place, requests, errors, output_tokens, cost_nano,
        uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens AS input
      FROM usage_daily WHERE day >= ${from}::text::date
        ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
        ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
        ${model === undefined ? sql`` : sql`AND model = ${model}`}) AS days
    GROUP BY GROUPING SETS ((place), ())
    ORDER BY place IS NULL DESC, ${by === 'day' ? sql`place DESC` : sql`sum(cost_nano) DESC, place`}
    LIMIT ${MAX_GROUPS + 1}`
  const report: UsageReport = { from, total: NOTHING, groups: [] }
  for (const { place: group, ...sum } of rows) {
    if (group === null) report.total = sum
    else report.groups.push({ place: group, ...sum })
  }
  return report
}
