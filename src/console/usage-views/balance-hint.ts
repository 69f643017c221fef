/** Warns before credit runs out: how many days it lasts at the last week's spending rate. */

import { MS_PER_DAY } from '@/lib/clock'
import { NANO_PER_USD, type Nano } from '@/lib/money'

/** `empty`: no credit; `critical` and `low`: few days left, or little credit. */
export type BalanceHint = {
  level: 'ok' | 'low' | 'critical' | 'empty'
  /** Days until the balance is spent at the current rate; null if nothing was spent recently. */
  daysLeft: number | null
}

/** The spending rate covers this many days including today, or fewer if the account is younger. */
export const RATE_DAYS = 7
export const LOW_DAYS = 7
export const CRITICAL_DAYS = 2
/** A balance below this amount counts as low, even without spending. */
export const LOW_BALANCE_NANO = NANO_PER_USD

type HintFacts = {
  balance: Nano
  /** nano-USD spent on the last {@link RATE_DAYS} days, today included. */
  spentInWindow: number
  /** The first day with spending; null if none. */
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

/** For a new account, less than a day of spending counts as one day, since an hour says little. */
function perDay(spent: number, firstDayMs: number, nowMs: number): number {
  const days = Math.min(RATE_DAYS, Math.max(1, (nowMs - firstDayMs) / MS_PER_DAY))
  return spent / days
}
