/** The days, weeks and months (UTC; weeks begin on Monday) that scheduled mails cover. */
import type { ScheduledKind } from '@/db/alert-schema'
import { MS_PER_DAY, utcDayOf } from '@/lib/clock'

type Unit = 'day' | 'week' | 'month'

export const UNIT_OF: Record<ScheduledKind, Unit> = {
  digest_weekly: 'week',
  digest_monthly: 'month',
  export_daily: 'day',
  export_weekly: 'week',
  export_monthly: 'month',
}

/** First and last day (yyyy-mm-dd) of a period; `before` is the first day of the preceding period. */
export type Period = { unit: Unit; from: string; to: string; before: string }

const WEEK_DAYS = 7
/** 1970-01-01 was a Thursday. */
const DAYS_FROM_MONDAY = 3

/** The latest period that had ended at `atMs`. */
export function latestPeriod(unit: Unit, atMs: number): Period {
  const starts = [0, 1, 2].map((back) => startOf(unit, atMs, back))
  const [next = 0, from = 0, before = 0] = starts
  return { unit, from: utcDayOf(from), to: utcDayOf(next - MS_PER_DAY), before: utcDayOf(before) }
}

function startOf(unit: Unit, atMs: number, back: number): number {
  const at = new Date(atMs)
  if (unit === 'month') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back, 1)
  const today = Math.floor(atMs / MS_PER_DAY)
  if (unit === 'day') return (today - back) * MS_PER_DAY
  return (today - ((today + DAYS_FROM_MONDAY) % WEEK_DAYS) - back * WEEK_DAYS) * MS_PER_DAY
}
