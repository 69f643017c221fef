/** The limits of orders: amounts in whole US cents, times in milliseconds. */

/** The largest payment that is taken note of: 9,000,000 USD, the most an account may hold. */
export const MAX_PAYMENT_CENTS = 900_000_000
/** Orders of one account that may wait for money at the same time. */
export const MAX_OPEN_ORDERS = 5
/** Orders that one account may make within 24 hours, whatever becomes of them: each leaves its events for ever. */
export const MAX_ORDERS_PER_DAY = 40
export const BANK_TRANSFER_LIFETIME_MS = 14 * 24 * 3_600_000
export const DEPOSIT_LIFETIME_MS = 24 * 3_600_000
/** The longest that a payer's bank takes for a payment that was begun, a debit for instance. */
export const PROCESSING_LIFETIME_MS = 14 * 24 * 3_600_000

/** How often a customer may say of one order that it is paid. */
export const MAX_CLAIMS = 20
export const MAX_CLAIM_NOTE_CHARS = 500
export const MAX_REASON_CHARS = 500
export const MAX_PAYMENT_TEXT_CHARS = 1_000
export const MAX_EXTERNAL_ID_CHARS = 200
export const MAX_REFUND_KEY_CHARS = 60
