/** The hours and days of the usage chart, and the format of its figures. */
import type { Bucket } from '@/dashboard/components/charts/chart-data'
import { formatMoney } from '@/dashboard/format'

const MS_PER_STEP = { hour: 3_600_000, day: 86_400_000 } as const
/** Maximum bars: more of them can't be distinguished. */
const MAX_STEPS = 400
const NANO_DIGITS = 9
/** Significant digits of an amount on an axis. */
const DRAWN_DIGITS = 3

/** Every hour or day from `from` to `to` (inclusive), oldest first; `key` is its start as the server sends it. */
export function stepsBetween(from: string, to: string, step: 'hour' | 'day'): Omit<Bucket, 'values'>[] {
  const length = MS_PER_STEP[step]
  const last = Math.floor(Date.parse(to) / length)
  const first = Math.max(Math.floor(Date.parse(from) / length), last - MAX_STEPS)
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const at = new Date((first + index) * length)
    return { key: at.toISOString(), ...(step === 'day' ? dayLabels(at) : hourLabels(at)) }
  })
}

/** A USD amount as a number, for drawing only; exact amounts are texts. */
export function formatDrawnMoney(usd: number): string {
  const drawn = Number(usd.toPrecision(DRAWN_DIGITS)).toFixed(NANO_DIGITS)
  return formatMoney(drawn.replace(/\.?0+$/, ''), { isExact: Math.abs(usd) < 1 })
}

/** Days are in UTC, as on the server. */
function dayLabels(at: Date) {
  const options = { timeZone: 'UTC', day: 'numeric', month: 'short' } as const
  return {
    label: at.toLocaleDateString('en-GB', options),
    longLabel: at.toLocaleDateString('en-GB', { ...options, weekday: 'short', year: 'numeric' }),
  }
}

/** Hours are in the viewer's time zone. */
function hourLabels(at: Date) {
  const hour = { hour: '2-digit', minute: '2-digit' } as const
  return {
    label: at.toLocaleTimeString('en-GB', hour),
    longLabel: at.toLocaleString('en-GB', { day: 'numeric', month: 'short', ...hour }),
  }
}
