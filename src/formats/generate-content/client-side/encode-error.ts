import { type ErrorKind, type GatewayError, retryHeader } from '@/chat/error'
import type { EncodedError } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

/** Encodes an error for generate-content clients. `code` must be the HTTP status as a number: client libraries ignore other errors. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const retry = retryHeader(error)
  return {
    status: error.status,
    body: {
      error: {
        code: error.status,
        message: error.message,
        status: STATUS_WORDS[error.kind],
        details: encodeDetails(error, requestId, retry['retry-after']),
      },
    },
    headers: { ...error.options.headers, ...retry },
  }
}

const TYPE_PREFIX = 'type.googleapis.com/google.rpc.'
const DOMAIN = 'svc-gateway'

/** The canonical status of each error kind. */
const STATUS_WORDS: Record<ErrorKind, string> = {
  invalid_request: 'INVALID_ARGUMENT',
  invalid_credentials: 'UNAUTHENTICATED',
  insufficient_credit: 'FAILED_PRECONDITION',
  forbidden: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  model_not_found: 'NOT_FOUND',
  method_not_allowed: 'UNIMPLEMENTED',
  conflict: 'ABORTED',
  gone: 'NOT_FOUND',
  precondition_failed: 'FAILED_PRECONDITION',
  too_large: 'INVALID_ARGUMENT',
  context_length_exceeded: 'INVALID_ARGUMENT',
  unsupported_media_type: 'INVALID_ARGUMENT',
  rate_limited: 'RESOURCE_EXHAUSTED',
  internal: 'INTERNAL',
  upstream_failed: 'INTERNAL',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  client_gone: 'CANCELLED',
}

/** A machine-readable reason for kinds whose status is too general. */
const REASONS: ReadonlyMap<ErrorKind, string> = new Map([
  ['invalid_credentials', 'API_KEY_INVALID'],
  ['insufficient_credit', 'INSUFFICIENT_CREDIT'],
  ['model_not_found', 'MODEL_NOT_FOUND'],
  ['too_large', 'REQUEST_TOO_LARGE'],
  ['context_length_exceeded', 'CONTEXT_LENGTH_EXCEEDED'],
  ['rate_limited', 'RATE_LIMIT_EXCEEDED'],
])

function encodeDetails(error: GatewayError, requestId: string, retryAfter: string | undefined): JsonObject[] {
  const { code, param, details } = error.options
  const reason = code?.toUpperCase() ?? REASONS.get(error.kind)
  const metadata = Object.fromEntries(Object.entries(details ?? {}).map(([key, value]) => [key, String(value)]))
  const typed: JsonObject[] = []
  if (reason !== undefined) {
    const more = Object.keys(metadata).length > 0 ? { metadata } : {}
    typed.push({ '@type': `${TYPE_PREFIX}ErrorInfo`, reason, domain: DOMAIN, ...more })
  }
  if (param !== undefined) {
    typed.push({
      '@type': `${TYPE_PREFIX}BadRequest`,
      fieldViolations: [{ field: param, description: error.message }],
    })
  }
  if (retryAfter !== undefined) typed.push({ '@type': `${TYPE_PREFIX}RetryInfo`, retryDelay: `${retryAfter}s` })
  typed.push({ '@type': `${TYPE_PREFIX}RequestInfo`, requestId })
  return typed
}
