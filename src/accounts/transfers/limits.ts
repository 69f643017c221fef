/** Limits for credit that owners move between their accounts. */
import { NANO_PER_USD, nano } from '@/lib/money'

export const MIN_TRANSFER = nano(NANO_PER_USD / 100)
export const MAX_TRANSFER = nano(10_000 * NANO_PER_USD)
/** Maximum transfers out of one account in 24 hours: their ledger entries are kept for ever. */
export const MAX_TRANSFERS_PER_DAY = 40
/** Maximum length of the idempotency key of a transfer. */
export const MAX_TRANSFER_KEY_CHARS = 64
