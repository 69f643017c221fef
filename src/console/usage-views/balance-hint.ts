/** Tells in time that credit is running out: how many days it lasts at the spending rate of the last week. */

import { MS_PER_DAY } from '@/lib/clock'
import { NANO_PER_USD, type Nano } from '@/lib/money'

/** `empty`: nothing left; `critical` and `low`: few days left, or little money. */
export type BalanceHint = {
  level: 'ok' | 'low' | 'critical' | 'empty'
  /** Days until the balance is spent at the present rate; null if nothing was spent lately. */
  daysLeft: number | null
}

/** The spending rate is that of this many days, today included; of a younger account, of the days since its first request. */
export const RATE_DAYS = 7
export const LOW_DAYS = 7
export const CRITICAL_DAYS = 2
/** Below this, a balance counts as low even where nothing is being spent. */
export const LOW_BALANCE_NANO = NANO_PER_USD

type HintFacts = {
  /** Available and held. */
  balance: Nano
  /** nano-USD spent on the last {@link RATE_DAYS} days, today included. */
  spentInWindow: number
  /** The first day of those on which anything was spent; null if none. */
  firstDayMs: number | null
  nowMs: number
}

/** The hint for one account. */
export function hintOf({ balance, spentInWindow, firstDayMs, nowMs }: HintFacts): BalanceHint {
  if (balance <= 0) return { level: 'empty', daysLeft: null }
  const daysLeft = firstDayMs === null || spentInWindow <= 0 ? null : balance / perDay(spentInWindow, firstDayMs, nowMs)
  if (daysLeft !== null && daysLeft < CRITICAL_DAYS) return { level: 'critical', daysLeft }
  if ((daysLeft !== null && daysLeft < LOW_DAYS) || balance < LOW_BALANCE_NANO) return { level: 'low', daysLeft }
  return { level: 'ok', daysLeft }
}

/** A day that has only begun counts as a whole one as long as it is the only one: an hour says little about a day. */
function perDay(spent: number, firstDayMs: number, nowMs: number): number {
  const days = Math.min(RATE_DAYS, Math.max(1, (nowMs - firstDayMs) / MS_PER_DAY))
  return spent / days
}
