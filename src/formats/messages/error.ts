/** Errors: ours in this format's shape, and the provider's read from it. */
import type { ErrorKind, GatewayError } from '@/chat/error'
import type { EncodedError, ProviderError } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

const TYPE_OF_KIND: Record<ErrorKind, string> = {
  invalid_request: 'invalid_request_error',
  invalid_credentials: 'authentication_error',
  insufficient_credit: 'billing_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  model_not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  conflict: 'conflict_error',
  too_large: 'request_too_large',
  context_length_exceeded: 'invalid_request_error',
  unsupported_media_type: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  internal: 'api_error',
  upstream_failed: 'api_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
}

/** The status this format's clients know for an overload, and retry. */
const OVERLOADED_STATUS = 529

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
  ['overloaded_error', OVERLOADED_STATUS],
])

/** The answer to a failed request: this format's statuses are the common ones, except for an overload. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const { retryAfterSeconds, headers } = error.options
  return {
    status: error.kind === 'overloaded' ? OVERLOADED_STATUS : error.status,
    body: errorBody(error, requestId),
    headers: {
      ...headers,
      'request-id': requestId,
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
    },
  }
}

/** The body of an error answer, which is also the data of an error event. */
export function errorBody(error: GatewayError, requestId: string): JsonObject {
  const { code, param, details } = error.options
  const facts: JsonObject = {
    ...(code !== undefined && { error_code: code }),
    ...(param !== undefined && { param }),
    ...details,
  }
  return {
    type: 'error',
    error: {
      type: TYPE_OF_KIND[error.kind],
      message: error.message,
      ...(Object.keys(facts).length > 0 && { details: facts }),
    },
    request_id: requestId,
  }
}

/** Reads an error answer of any shape that providers of this format, or what stands before them, are seen to send. */
export function decodeError(status: number, body: JsonValue | undefined): ProviderError {
  const outer = Array.isArray(body) ? body[0] : body
  const inner = isJsonObject(outer) ? (outer.error ?? outer) : outer
  if (typeof inner === 'string') return { status, kind: '', message: inner }
  if (!isJsonObject(inner)) return { status, kind: '', message: '' }
  return { status, kind: text(inner.type), message: text(inner.message) }
}

/** The status that an error type stands for, where a stream names only the type. */
export function statusOfErrorType(type: string): number | undefined {
  return STATUS_OF_TYPE.get(type)
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
