import type { Sql, TransactionSql } from 'postgres'
import type { Period } from './periods'

type DigestOf = { accountId: string; madeBy?: string | undefined }

/** The cost of one model, key or member, in nano-USD. */
export type Share = { name: string; cost: number }

export type UsageDigest = {
  requests: number
  cost: number
  requestsBefore: number
  costBefore: number
  /** The most expensive models, the dearest first. */
  models: Share[]
  keys: Share[]
  /** Only in a digest of the whole account; service keys are omitted. */
  members: Share[]
  balance: number
  /** Spent by the whole account in the seven days before today. */
  spentInWeek: number
}

const MOST = 5

/** Reads the usage of an account, or of one person's keys in it, from the daily sums in one snapshot. `today`: yyyy-mm-dd. */
export async function readDigest(
  sql: Sql | TransactionSql,
  { accountId, madeBy }: DigestOf,
  { from, to, before }: Period,
  today: string,
): Promise<UsageDigest> {
  const own = madeBy === undefined ? sql`` : sql`AND member_id = ${madeBy}`
  const most = (shares: ReturnType<typeof sql>) => sql`
    SELECT coalesce(json_agg(s), '[]') FROM (SELECT name, sum(cost_nano)::bigint AS cost FROM (${shares}) all_of_them
      GROUP BY id, name ORDER BY 2 DESC, 1 LIMIT ${MOST}) s`
  const [row] = await sql<UsageDigest[]>`
    WITH both_periods AS MATERIALIZED (
      SELECT day >= ${from}::text::date AS is_now, key_id, model, requests, cost_nano FROM usage_daily
      WHERE account_id = ${accountId} AND day >= ${before}::text::date AND day <= ${to}::text::date ${own}),
    period AS (SELECT * FROM both_periods WHERE is_now)
    SELECT coalesce(sum(requests) FILTER (WHERE is_now), 0)::bigint AS requests,
      coalesce(sum(cost_nano) FILTER (WHERE is_now), 0)::bigint AS cost,
      coalesce(sum(requests) FILTER (WHERE NOT is_now), 0)::bigint AS "requestsBefore",
      coalesce(sum(cost_nano) FILTER (WHERE NOT is_now), 0)::bigint AS "costBefore",
      (${most(sql`SELECT model AS id, model AS name, cost_nano FROM period`)}) AS models,
      (${most(sql`SELECT k.id, k.name, cost_nano FROM period JOIN api_keys k ON k.id = key_id`)}) AS keys,
      (${most(sql`SELECT u.id, u.name, cost_nano FROM usage_daily_members d JOIN users u ON u.id = d.member_id
        WHERE d.account_id = ${accountId} AND ${madeBy === undefined} AND d.day >= ${from}::text::date AND d.day <= ${to}::text::date`)}) AS members,
      (SELECT balance_nano::bigint FROM accounts WHERE id = ${accountId}) AS balance,
      (SELECT coalesce(sum(cost_nano), 0)::bigint FROM usage_daily WHERE account_id = ${accountId}
        AND day >= ${today}::text::date - 7 AND day < ${today}::text::date) AS "spentInWeek"
    FROM both_periods`
  if (!row) throw new Error('a sum without a row')
  return row
}
