/** The thresholds of an account's balance, at which alerts are sent. */
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'

/** null: no alert. */
export type AlertThresholds = { first: Nano | null; second: Nano | null }

export const THRESHOLDS = [
  { field: 'first', name: 'balance:first' },
  { field: 'second', name: 'balance:second' },
] as const

export const DEFAULT_THRESHOLDS = { first: nano(10 * NANO_PER_USD), second: nano(2 * NANO_PER_USD) }
