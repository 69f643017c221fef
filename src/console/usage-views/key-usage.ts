/** The daily usage of one API key, from the daily sums in Postgres. */
import type { Database } from '@/db/client'
import { type Nano, nano } from '@/lib/money'

type KeyUsageDay = {
  day: string
  spent: Nano
  requests: number
  errors: number
  inputTokens: number
  outputTokens: number
}

/** The latest `days` days (1 to 366) up to the day of `nowMs`, oldest first. Usage that is not yet in Postgres is missing. */
export type ReadKeyUsage = (
  key: { accountId: string; keyId: string },
  days: number,
  nowMs: number,
) => Promise<KeyUsageDay[]>

const MS_PER_DAY = 86_400_000

export function createKeyUsage(database: Database): ReadKeyUsage {
  return (key, days, nowMs) => readKeyUsage(database, key, days, nowMs)
}

async function readKeyUsage(
  { sql }: Database,
  key: { accountId: string; keyId: string },
  days: number,
  nowMs: number,
): Promise<KeyUsageDay[]> {
  const names = Array.from({ length: days }, (_, index) => dayOf(nowMs - (days - 1 - index) * MS_PER_DAY))
  const rows = await sql<Row[]>`
    SELECT day::text AS day, sum(cost_nano)::bigint AS spent, sum(requests)::bigint AS requests,
      sum(errors)::bigint AS errors, sum(output_tokens)::bigint AS output,
      sum(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint AS input
    FROM usage_daily
    WHERE account_id = ${key.accountId} AND key_id = ${key.keyId} AND day >= ${names[0] ?? ''}::text::date
    GROUP BY day`
  const known = new Map(rows.map((row) => [row.day, row]))
  return names.map((day) => toDay(day, known.get(day)))
}

type Row = { day: string; spent: number; requests: number; errors: number; input: number; output: number }

function toDay(day: string, row: Row | undefined): KeyUsageDay {
  return {
    day,
    spent: nano(row?.spent ?? 0),
    requests: row?.requests ?? 0,
    errors: row?.errors ?? 0,
    inputTokens: row?.input ?? 0,
    outputTokens: row?.output ?? 0,
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
