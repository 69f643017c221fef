/** Decodes a messages provider's error response, in all known variants. */
import type { ProviderError } from '@/chat/provider-error'
import { providerError, UNSTATED_STATUS } from '@/formats/provider-error'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

const STATUS_OF_TYPE = new Map<string, number>([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

export function decodeError(status: number | undefined, body: JsonValue | undefined): ProviderError {
  const outer = Array.isArray(body) ? body[0] : body
  const inner = isJsonObject(outer) ? (outer.error ?? outer) : outer
  const { type, message } = isJsonObject(inner) ? inner : { message: inner }
  const kind = textOf(type) ?? ''
  return providerError({
    status: status ?? STATUS_OF_TYPE.get(kind) ?? UNSTATED_STATUS,
    kind,
    message: textOf(message) ?? '',
  })
}
