/** The difference between customers' charges and providers' costs, by model and by day, for operators. */
import type { Database } from '@/db/client'

/** Amounts are exact decimal USD, since sums over all accounts may exceed the limit of one account. */
type Margin = {
  requests: number
  charged: string
  /** The known part of the providers' charges; null if none is known. */
  cost: string | null
  /** Charges with known cost, less that cost; null if unknown. */
  margin: string | null
  /** Charges with unknown cost, which are in no margin. */
  uncosted: string
  /** Calls that were started and abandoned, and their known cost, which is part of `cost`. */
  thrownAwayCalls: number
  thrownAway: string
}

type MarginReport = {
  /** The first day, yyyy-mm-dd in UTC. */
  from: string
  total: Margin
  models: (Margin & { model: string })[]
  /** The newest day first, and on each the models by name. */
  days: (Margin & { day: string; model: string })[]
}

type MarginRow = Margin & { day: string | null; model: string | null }

const NOTHING: Margin = {
  requests: 0,
  charged: '0',
  cost: null,
  margin: null,
  uncosted: '0',
  thrownAwayCalls: 0,
  thrownAway: '0',
}
const MS_PER_DAY = 86_400_000
/** Maximum days of a report. For more days, query the database directly. */
export const MAX_MARGIN_DAYS = 366

/** Sums the last `days` UTC days up to that of `nowMs`. Charges of the last seconds may be missing. */
export async function readMargins({ sql }: Database, days: number, nowMs: number): Promise<MarginReport> {
  const from = new Date(nowMs - (days - 1) * MS_PER_DAY).toISOString().slice(0, 10)
  const rows = await sql<MarginRow[]>`
    SELECT day::text AS day, model, requests::bigint AS requests,
      trim_scale(charged * 0.000000001)::text AS charged, trim_scale(cost * 0.000000001)::text AS cost,
      trim_scale((costed - cost) * 0.000000001)::text AS margin,
      trim_scale((charged - coalesce(costed, 0)) * 0.000000001)::text AS uncosted,
      calls::bigint AS "thrownAwayCalls", trim_scale(thrown_away * 0.000000001)::text AS "thrownAway"
    FROM (SELECT day, model, coalesce(sum(requests), 0) AS requests, coalesce(sum(cost_nano), 0)::numeric AS charged,
        sum(provider_cost_nano) AS cost, sum(costed_nano) AS costed,
        coalesce(sum(calls), 0) AS calls, coalesce(sum(thrown_away_nano), 0)::numeric AS thrown_away
      FROM (
        SELECT day, model, requests, cost_nano, provider_cost_nano, costed_nano, NULL::bigint AS calls, NULL::bigint AS thrown_away_nano
        FROM usage_daily WHERE day >= ${from}::text::date
        UNION ALL SELECT day, model, NULL, NULL, NULL, NULL, calls, cost_nano
        FROM thrown_away_daily WHERE day >= ${from}::text::date) AS daily
      GROUP BY GROUPING SETS ((day, model), (model), ())) AS summed
    ORDER BY day DESC, model`
  const report: MarginReport = { from, total: NOTHING, models: [], days: [] }
  for (const { day, model, ...margin } of rows) {
    if (model === null) report.total = margin
    else if (day === null) report.models.push({ model, ...margin })
    else report.days.push({ day, model, ...margin })
  }
  return report
}
