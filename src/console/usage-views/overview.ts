import type { Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import { MS_PER_DAY, startOfUtcDay, utcDayOf } from '@/lib/clock'
import { type Nano, nano } from '@/lib/money'
import { type BalanceHint, hintOf, RATE_DAYS } from './balance-hint'
import { readSeries, type SeriesPoint } from './usage-series'

type Overview = {
  balance: Nano
  available: Nano
  held: Nano
  /** Days and months are in UTC. */
  spentToday: Nano
  spentThisMonth: Nano
  isSuspended: boolean
  requests: number
  errors: number
  speed: Speed
  activeKeys: number
  days: { day: string; model: string; cost: Nano; requests: number }[]
  hint: BalanceHint
  /** Set-up steps that a new account has completed. */
  started: { hasKey: boolean; hasCredit: boolean; hasRequest: boolean }
  /** Charged requests that are not yet booked in Postgres, usually for less than a second. */
  pendingRecords: number
}

/** Averages over all requests; null if nothing was measured. */
type Speed = {
  durationMs: number | null
  firstTokenMs: number | null
  /** Output tokens per second after the first token. If the first token was not measured, after the request's start. */
  tokensPerSecond: number | null
}

const CHART_DAYS = 30
const SPEED_DAYS = 7

/** A customer's start page at `nowMs`; undefined for an unknown account. Throws if Redis or Postgres is unreachable. */
export async function readOverview(
  database: Database,
  ledger: Ledger,
  accountId: string,
  nowMs: number,
): Promise<Overview | undefined> {
  const today = startOfUtcDay(nowMs)
  const chart = { accountId, fromMs: today - (CHART_DAYS - 1) * MS_PER_DAY, toMs: today + MS_PER_DAY }
  const [balance, recent, series, account] = await Promise.all([
    ledger.readBalance(accountId),
    readRecentDays(database, accountId, today),
    readSeries(database, chart, 'model'),
    readAccount(database, accountId),
  ])
  if (!balance || !account) return undefined
  const total = nano(balance.available + balance.held)
  return {
    balance: total,
    available: balance.available,
    held: balance.held,
    spentToday: nano(recent.cost_today),
    spentThisMonth: balance.spentThisMonth,
    isSuspended: balance.status === 'suspended',
    requests: recent.requests,
    errors: recent.errors,
    speed: speedOf(recent),
    activeKeys: account.active_keys,
    days: series.points.map(toDay),
    hint: hintOf({
      balance: total,
      spentInWindow: recent.cost_window,
      firstDayMs: recent.first_day === null ? null : Date.parse(recent.first_day),
      nowMs,
    }),
    started: {
      hasKey: account.active_keys > 0,
      hasCredit: account.has_credit,
      hasRequest: balance.seq > 0 || account.ledger_seq > 0,
    },
    pendingRecords: Math.max(0, balance.seq - account.ledger_seq),
  }
}

type RecentRow = {
  requests: number
  errors: number
  cost_today: number
  cost_window: number
  first_day: string | null
  duration_ms: number
  first_token_ms: number
  first_token_count: number
  output: number
}

async function readRecentDays({ sql }: Database, accountId: string, todayMs: number): Promise<RecentRow> {
  const today = utcDayOf(todayMs)
  const first = utcDayOf(todayMs - (SPEED_DAYS - 1) * MS_PER_DAY)
  const rateFirst = utcDayOf(todayMs - (RATE_DAYS - 1) * MS_PER_DAY)
  const [row] = await sql<[RecentRow]>`
    SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(errors), 0)::bigint AS errors,
      coalesce(sum(cost_nano) FILTER (WHERE day = ${today}::text::date), 0)::bigint AS cost_today,
      coalesce(sum(cost_nano) FILTER (WHERE day >= ${rateFirst}::text::date), 0)::bigint AS cost_window,
      min(day)::text AS first_day, coalesce(sum(duration_ms), 0)::bigint AS duration_ms,
      coalesce(sum(first_token_ms), 0)::bigint AS first_token_ms,
      coalesce(sum(first_token_count), 0)::bigint AS first_token_count, coalesce(sum(output_tokens), 0)::bigint AS output
    FROM usage_daily WHERE account_id = ${accountId} AND day BETWEEN ${first}::text::date AND ${today}::text::date`
  return row
}

type AccountRow = { active_keys: number; has_credit: boolean; ledger_seq: number }

async function readAccount({ sql }: Database, accountId: string): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`
    SELECT ledger_seq, EXISTS (SELECT 1 FROM ledger_entries e WHERE e.account_id = a.id) AS has_credit,
      (SELECT count(*) FROM api_keys k WHERE k.account_id = a.id AND k.status = 'active' AND k.built_in IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())) AS active_keys
    FROM accounts a WHERE id = ${accountId}`
  return row
}

function speedOf({ requests, duration_ms, first_token_ms, first_token_count, output }: RecentRow): Speed {
  const answeringMs = duration_ms - first_token_ms
  return {
    durationMs: requests > 0 ? duration_ms / requests : null,
    firstTokenMs: first_token_count > 0 ? first_token_ms / first_token_count : null,
    tokensPerSecond: answeringMs > 0 && output > 0 ? (output * 1000) / answeringMs : null,
  }
}

function toDay({ atMs, group, cost, requests }: SeriesPoint): Overview['days'][number] {
  return { day: utcDayOf(atMs), model: group, cost: nano(cost), requests }
}
