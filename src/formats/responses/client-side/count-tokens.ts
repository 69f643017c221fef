/** The question for a responses request's input tokens, and its answer. */
import type { ChatRequest } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { decodeRequest } from './decode-request'

/** The request whose input is asked about. Throws like `decodeRequest`. */
export function decodeCountTokens(body: JsonObject): ChatRequest {
  return decodeRequest(body)
}

/** `total` is a non-negative integer: our own estimate of the request's input tokens. */
export function encodeCountTokens(total: number): JsonObject {
  return { object: 'response.input_tokens', input_tokens: total }
}
