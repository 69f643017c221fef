/** The limits of orders: amounts in whole US cents, times in milliseconds. */

/** The largest payment that is taken note of: 9,000,000 USD, the most an account may hold. */
export const MAX_PAYMENT_CENTS = 900_000_000
/** Maximum pending orders of one account. */
export const MAX_OPEN_ORDERS = 5
/** Maximum orders of one account within 24 hours, in whatever state: each leaves events that are kept for ever. */
export const MAX_ORDERS_PER_DAY = 40
export const BANK_TRANSFER_LIFETIME_MS = 14 * 24 * 3_600_000
export const DEPOSIT_LIFETIME_MS = 24 * 3_600_000
/** The longest that a payer's bank takes for a payment that was begun, a debit for instance. */
export const PROCESSING_LIFETIME_MS = 14 * 24 * 3_600_000

/** The lowest and the highest balance below which credit is bought automatically. */
export const TOP_UP_BELOW_CENTS = { minimum: 100, maximum: 500_000 }
/** The most that is bought automatically in a day. */
export const MAX_DAILY_TOP_UP_CENTS = 10_000_000
/** Failed charges in a row that turn an auto top-up off. */
export const MAX_TOP_UP_FAILURES = 3
/** After the first failed charge, and after the second. */
export const TOP_UP_RETRY_MS = [3_600_000, 24 * 3_600_000] as const
/** How long the payer has to confirm a charge that the bank asks about. */
export const CONFIRMATION_LIFETIME_MS = 7 * 24 * 3_600_000

/** How often a customer may report an order as paid. */
export const MAX_CLAIMS = 20
export const MAX_CLAIM_NOTE_CHARS = 500
export const MAX_REASON_CHARS = 500
export const MAX_PAYMENT_TEXT_CHARS = 1_000
export const MAX_EXTERNAL_ID_CHARS = 200
export const MAX_REFUND_KEY_CHARS = 60
