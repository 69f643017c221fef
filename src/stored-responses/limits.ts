/** Limits for storing and reading answers: for one answer, one conversation, and one account. */
import { SHARED } from '@/limits/shared-resources'

/** Maximum size of an answer with its request's own input. A larger answer is not stored, and contains `store: false`. */
export const MAX_STORED_BYTES = 4 * 1024 * 1024
/** The most answers in the conversation behind one `previous_response_id`. */
export const MAX_CHAIN_LINKS = 1_000
/** The limits for all items of a conversation together, in bytes and in JSON values. */
export const MAX_CHAIN_BYTES = SHARED.chainBytes.perAccount
export const MAX_CHAIN_VALUES = SHARED.chainValues.perAccount
/** The most answers of one account. If it has more, its oldest answers are deleted. */
export const MAX_STORED_RESPONSES = 100_000
/** The most references to stored items in one request. An item that is named twice counts twice. */
export const MAX_REFERENCES = 1_000
/** The form of a stored id. All providers and clients use ids of this form. */
export const STORED_ID = /^[\w-]{1,128}$/
