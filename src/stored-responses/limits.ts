/** How much may be stored and read again of answers that callers build on: of one, of a conversation, of an account. */

/** An answer with its request's own input; a larger one is told `store: false`. */
export const MAX_STORED_BYTES = 4 * 1024 * 1024
/** Answers behind one `previous_response_id`. */
export const MAX_CHAIN_LINKS = 1_000
/** What all of them hold together. */
export const MAX_CHAIN_BYTES = 16 * 1024 * 1024
/** Answers of one account. Where there are more, the oldest go. */
export const MAX_STORED_RESPONSES = 100_000
/** References of one request. */
export const MAX_REFERENCES = 1_000
/** Ids that any provider or client may have made up. */
export const STORED_ID = /^[\w-]{1,128}$/
