/** The answer to `:countTokens`. */
import type { JsonObject } from '@/lib/json'

/** `total` is a non-negative integer: our own estimate of the request's input tokens. */
export function encodeCountTokens(total: number): JsonObject {
  return { totalTokens: total }
}
