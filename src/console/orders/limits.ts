/** The limits of orders: amounts in whole US cents, times in milliseconds. */

/** The largest payment that is accepted: 9,000,000 USD, the maximum balance of an account. */
export const MAX_PAYMENT_CENTS = 900_000_000
/** Maximum pending orders of one account. */
export const MAX_OPEN_ORDERS = 5
/** Maximum orders of one account within 24 hours, in any state, since each leaves events that are stored for ever. */
export const MAX_ORDERS_PER_DAY = 40
export const BANK_TRANSFER_LIFETIME_MS = 14 * 24 * 3_600_000
export const DEPOSIT_LIFETIME_MS = 24 * 3_600_000
/** The longest time that a payer's bank needs for a payment in progress, such as a debit. */
export const PROCESSING_LIFETIME_MS = 14 * 24 * 3_600_000

/** The lowest and the highest threshold of the auto top-up. */
export const TOP_UP_BELOW_CENTS = { minimum: 100, maximum: 500_000 }
/** Maximum amount that the auto top-up buys in a day. */
export const MAX_DAILY_TOP_UP_CENTS = 10_000_000
/** The auto top-up is turned off after this many failed charges in a row. */
export const MAX_TOP_UP_FAILURES = 3
/** Pauses after the first and the second failed charge. */
export const TOP_UP_RETRY_MS = [3_600_000, 24 * 3_600_000] as const
/** Time in which the payer must confirm a charge, if the bank asks for that. */
export const CONFIRMATION_LIFETIME_MS = 7 * 24 * 3_600_000

/** Maximum times that a customer may report an order as paid. */
export const MAX_CLAIMS = 20
export const MAX_CLAIM_NOTE_CHARS = 500
export const MAX_REASON_CHARS = 500
export const MAX_PAYMENT_TEXT_CHARS = 1_000
export const MAX_EXTERNAL_ID_CHARS = 200
export const MAX_REFUND_KEY_CHARS = 60
