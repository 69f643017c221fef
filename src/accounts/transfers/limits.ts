/** The limits of credit that owners move between their accounts. */
import { NANO_PER_USD, nano } from '@/lib/money'

/** The least and the most that is moved at once: a cent and 10,000 USD. */
export const MIN_TRANSFER = nano(NANO_PER_USD / 100)
export const MAX_TRANSFER = nano(10_000 * NANO_PER_USD)
/** How often credit is moved out of one account in 24 hours: each time leaves its entries for ever. */
export const MAX_TRANSFERS_PER_DAY = 40
/** Characters of the key that makes a repeated form move credit once. */
export const MAX_TRANSFER_KEY_CHARS = 64
