/** Whether an account's saved card is to be charged now, from one snapshot of its balance and its orders. */
import { type SQL, sql } from 'drizzle-orm'
import { MAX_TOP_UP_FAILURES, TOP_UP_RETRY_MS } from '@/console/orders/limits'
import type { Database, Transaction } from '@/db/client'
import type { StopReason } from '@/db/orders-schema'
import { MS_PER_DAY } from '@/lib/clock'

/** An account below its threshold, whose auto top-up is on. */
export type Standing = {
  accountId: string
  amountCents: number
  dailyCents: number
  /** Auto top-ups that wait for their payment: 0 or 1. */
  waiting: number
  /** Sum in cents of today's auto top-ups, except failed ones. */
  todayCents: number
  /** Number of failed auto top-ups since the last paid one, and the start of the latest failed one. */
  failures: number
  failedAtMs: number | null
  /** A payment was refunded or charged back since the top-up was turned on. */
  hasReturned: boolean
}

export type Decision = 'wait' | 'charge' | Extract<StopReason, 'declined' | 'returned'>

/** Decides about one account: a pure function of its arguments. */
export function decide(standing: Standing, nowMs: number): Decision {
  const { waiting, hasReturned, failures, failedAtMs, todayCents, amountCents, dailyCents } = standing
  if (waiting > 0) return 'wait'
  if (hasReturned) return 'returned'
  if (failures >= MAX_TOP_UP_FAILURES) return 'declined'
  if (failedAtMs !== null && nowMs < failedAtMs + (TOP_UP_RETRY_MS[failures - 1] ?? 0)) return 'wait'
  return todayCents + amountCents > dailyCents ? 'wait' : 'charge'
}

/** The accounts to read: at most `limit` of those after the id `after`, or a single one. */
type Which = { after: string; limit: number } | { accountId: string }

/** Active accounts of `provider` whose balance is below the threshold and whose auto top-up is on, by id. */
export async function readStandings(
  db: Database['db'] | Transaction,
  provider: string,
  nowMs: number,
  which: Which,
): Promise<Standing[]> {
  const midnight = new Date(nowMs - (nowMs % MS_PER_DAY)).toISOString()
  const chosen =
    'after' in which
      ? sql`t.account_id > ${which.after} GROUP BY t.account_id, l.paid_at ORDER BY t.account_id LIMIT ${which.limit}`
      : sql`t.account_id = ${which.accountId} GROUP BY t.account_id, l.paid_at`
  const rows = await db.execute<Standing>(sql`
    SELECT t.account_id AS "accountId", t.amount_cents::int AS "amountCents", t.daily_cents::int AS "dailyCents",
      count(o.id) FILTER (WHERE o.state = 'pending')::int AS waiting,
      coalesce(sum(o.amount_cents) FILTER (WHERE o.created_at >= ${midnight} AND NOT ${HAS_FAILED}), 0)::int AS "todayCents",
      count(o.id) FILTER (WHERE ${HAS_FAILED_LATELY})::int AS failures,
      (extract(epoch FROM max(o.created_at) FILTER (WHERE ${HAS_FAILED_LATELY})) * 1000)::float8 AS "failedAtMs",
      EXISTS (SELECT FROM order_events e JOIN orders r ON r.id = e.order_id WHERE r.account_id = t.account_id
        AND e.kind IN ('refunded', 'charged_back') AND e.created_at > t.on_since) AS "hasReturned"
    FROM auto_top_ups t JOIN accounts a ON a.id = t.account_id
      CROSS JOIN LATERAL (SELECT coalesce(max(p.created_at), '-infinity') AS paid_at FROM orders p
        WHERE p.account_id = t.account_id AND p.origin = 'auto_top_up' AND p.paid_cents > 0) l
      LEFT JOIN orders o ON o.account_id = t.account_id AND o.origin = 'auto_top_up'
    WHERE t.is_on AND t.provider = ${provider} AND a.status = 'active'
      AND a.balance_nano < t.below_cents::bigint * ${NANO_PER_CENT}::bigint AND ${chosen}`)
  return [...rows]
}

const NANO_PER_CENT = 10_000_000
const HAS_FAILED: SQL = sql`o.state IN ('expired', 'cancelled')`
const HAS_FAILED_LATELY: SQL = sql`${HAS_FAILED} AND o.created_at >= t.on_since AND o.created_at > l.paid_at`
