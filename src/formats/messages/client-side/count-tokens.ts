/** The question for a messages request's input tokens, and its answer. */
import type { ChatRequest } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { checkCountTokens } from './check-request'
import { decodeChecked } from './decode-request'

/** The request whose input is asked about: one whose `max_tokens` may be absent. Throws like `decodeRequest`. */
export function decodeCountTokens(body: JsonObject): ChatRequest {
  return decodeChecked(checkCountTokens(body), body)
}

/** `total` is a non-negative integer: our own estimate of the request's input tokens. */
export function encodeCountTokens(total: number): JsonObject {
  return { input_tokens: total }
}
