/** Encodes an error in the form that messages clients expect. */
import { type ErrorKind, type GatewayError, retryHeader } from '@/chat/error'
import type { EncodedError } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

const TYPE_OF_KIND: Record<ErrorKind, string> = {
  invalid_request: 'invalid_request_error',
  invalid_credentials: 'authentication_error',
  insufficient_credit: 'billing_error',
  forbidden: 'permission_error',
  not_found: 'not_found_error',
  model_not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  conflict: 'conflict_error',
  gone: 'invalid_request_error',
  precondition_failed: 'invalid_request_error',
  too_large: 'request_too_large',
  context_length_exceeded: 'invalid_request_error',
  unsupported_media_type: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  internal: 'api_error',
  upstream_failed: 'api_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  client_gone: 'invalid_request_error',
}

/** The header in which this format's libraries read the id. */
export const REQUEST_ID_HEADER = 'request-id'

/** The status that this format's clients recognise as an overload, and retry. */
const OVERLOADED_STATUS = 529

/** The response to a failed request; the status is the common one, except for an overload. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  return {
    status: error.kind === 'overloaded' ? OVERLOADED_STATUS : error.status,
    body: encodeBody(error, requestId),
    headers: {
      ...error.options.headers,
      [REQUEST_ID_HEADER]: requestId,
      'x-request-id': requestId,
      ...retryHeader(error),
    },
  }
}

function encodeBody(error: GatewayError, requestId: string): JsonObject {
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
