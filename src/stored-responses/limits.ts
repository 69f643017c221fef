/** How much may be stored and read again: of an answer, a conversation, and an account. */
import { SHARED } from '@/limits/shared-resources'

/** An answer with its request's own input; a larger one gets `store: false`. */
export const MAX_STORED_BYTES = 4 * 1024 * 1024
/** Answers behind one `previous_response_id`. */
export const MAX_CHAIN_LINKS = 1_000
/** The limit of all items together, in bytes and in JSON values. */
export const MAX_CHAIN_BYTES = SHARED.chainBytes.perAccount
export const MAX_CHAIN_VALUES = SHARED.chainValues.perAccount
/** Answers of one account. Beyond it, the oldest are deleted. */
export const MAX_STORED_RESPONSES = 100_000
/** References of one request, each counted as often as it is named. */
export const MAX_REFERENCES = 1_000
/** Valid for ids from any provider or client. */
export const STORED_ID = /^[\w-]{1,128}$/
