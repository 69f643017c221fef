/** How much may be stored and read again of answers that callers build on: of one, of a conversation, of an account. */
import { SHARED } from '@/limits/shared-resources'

/** An answer with its request's own input; a larger one says `store: false`. */
export const MAX_STORED_BYTES = 4 * 1024 * 1024
/** Answers behind one `previous_response_id`. */
export const MAX_CHAIN_LINKS = 1_000
/** The limit of all items together, in bytes and in JSON values. */
export const MAX_CHAIN_BYTES = SHARED.chainBytes.perAccount
export const MAX_CHAIN_VALUES = SHARED.chainValues.perAccount
/** Answers of one account. If there are more, the oldest go. */
export const MAX_STORED_RESPONSES = 100_000
/** References of one request, each counted as often as it is named. */
export const MAX_REFERENCES = 1_000
/** Ids that any provider or client may have made up. */
export const STORED_ID = /^[\w-]{1,128}$/
