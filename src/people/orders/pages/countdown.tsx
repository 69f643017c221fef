import { useEffect, useState } from 'react'
import { formatMoment } from '@/dashboard/format'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A countdown of the time left to pay an order. `until` is ISO 8601. */
export function Countdown({ until }: { until: string }) {
  const [nowMs, setNowMs] = useState(Date.now)
  const leftMs = new Date(until).getTime() - nowMs
  const stepMs = leftMs < HOUR_MS ? SECOND_MS : MINUTE_MS
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), stepMs)
    return () => clearInterval(timer)
  }, [stepMs])
  return (
    <time dateTime={until} title={formatMoment(until)} className="figures">
      {remaining(leftMs)}
    </time>
  )
}

function remaining(leftMs: number): string {
  if (leftMs <= 0) return 'no time'
  const [days, hours] = [Math.floor(leftMs / DAY_MS), Math.floor((leftMs % DAY_MS) / HOUR_MS)]
  const [minutes, seconds] = [Math.floor((leftMs % HOUR_MS) / MINUTE_MS), Math.floor((leftMs % MINUTE_MS) / SECOND_MS)]
  if (days > 0) return `${count(days, 'day')} ${count(hours, 'hour')}`
  if (hours > 0) return `${count(hours, 'hour')} ${count(minutes, 'minute')}`
  return `${minutes}:${String(seconds).padStart(2, '0')} minutes`
}

function count(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`
}
