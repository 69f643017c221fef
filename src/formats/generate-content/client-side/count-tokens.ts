/** The question for a generate-content request's input tokens, and its answer. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { RequestLine } from '@/formats/format'
import { normaliseCountTokens } from '@/formats/generate-content/normalise'
import type { JsonObject } from '@/lib/json'
import { checkCountTokens, checkRequest } from './check-request'
import { decodeChecked } from './decode-request'

/** The request whose input `:countTokens` asks about: `{contents}` or `{generateContentRequest}`. Throws like `decodeRequest`. */
export function decodeCountTokens(body: JsonObject, line: RequestLine): ChatRequest {
  const { generateContentRequest, ...plain } = checkCountTokens(normaliseCountTokens(body))
  if (generateContentRequest && plain.contents) {
    throw invalidRequest('send contents or generateContentRequest, not both', 'generateContentRequest')
  }
  return decodeChecked(generateContentRequest ?? checkRequest(plain), line)
}

/** `total` is a non-negative integer: our own estimate of the request's input tokens. */
export function encodeCountTokens(total: number): JsonObject {
  return { totalTokens: total }
}
