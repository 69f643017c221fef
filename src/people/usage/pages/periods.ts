/** Common periods of a statement, as days in UTC. */
import type { Period } from './statement-data'

export const PERIODS = [
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: 'quarter', label: 'Last 3 months' },
  { value: 'year', label: 'This year' },
  { value: 'days', label: 'Choose days' },
] as const
type PeriodName = (typeof PERIODS)[number]['value']

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The days of a period at `nowMs`. `from` and `to` are used only for chosen days, and only if they are a valid period. */
export function daysOf(name: PeriodName, chosen: { from: string; to: string }, nowMs = Date.now()): Period {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  switch (name) {
    case 'month':
      return { from: dayOf(year, month, 1) }
    case 'last-month':
      return { from: dayOf(year, month - 1, 1), to: dayOf(year, month, 0) }
    case 'quarter':
      return { from: dayOf(year, month - 2, 1) }
    case 'year':
      return { from: dayOf(year, 0, 1) }
    case 'days': {
      const from = DAY.test(chosen.from) ? chosen.from : dayOf(year, month, 1)
      return DAY.test(chosen.to) && chosen.to >= from ? { from, to: chosen.to } : { from }
    }
  }
}

/** The day as yyyy-mm-dd. A month or day out of range continues in the next or previous month or year. */
function dayOf(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 'yyyy-mm-dd'.length)
}
