/** Errors in this format's shape, and a provider's errors read from it. */
import { type ErrorKind, type GatewayError, STATUS_OF_KIND } from '@/chat/error'
import type { EncodedError, ProviderError } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The answer to a failed request. `code` is the HTTP status as a number: client libraries ignore an error without one. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const { retryAfterSeconds, headers } = error.options
  const retryAfter = retryAfterSeconds === undefined ? undefined : Math.max(0, Math.ceil(retryAfterSeconds))
  return {
    status: error.status,
    body: {
      error: {
        code: error.status,
        message: error.message,
        status: STATUS_WORDS[error.kind],
        details: encodeDetails(error, requestId, retryAfter),
      },
    },
    headers: { ...headers, ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }) },
  }
}

/**
 * What a provider's error answer says. `kind` is the provider's status word; a bad key, which providers report as a 400, is
 * a 401 `API_KEY_INVALID`, so that it is never taken for the caller's fault. Never throws.
 */
export function decodeError(status: number, body: JsonValue | undefined): ProviderError {
  const error = errorOf(body)
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : []
  const retryAfterSeconds = retryDelayOf(details)
  const message = typeof error.message === 'string' ? error.message : ''
  if (details.some((detail) => detail.reason === BAD_KEY)) return { status: 401, kind: BAD_KEY, message }
  return {
    status: statusOf(status, error.code),
    kind: typeof error.status === 'string' && error.status !== '' ? error.status : 'UNKNOWN',
    message,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

const BAD_KEY = 'API_KEY_INVALID'
const TYPE_PREFIX = 'type.googleapis.com/google.rpc.'
const DOMAIN = 'svc-gateway'

/** The canonical status word of each kind. */
const STATUS_WORDS: Record<ErrorKind, string> = {
  invalid_request: 'INVALID_ARGUMENT',
  invalid_credentials: 'UNAUTHENTICATED',
  insufficient_credit: 'FAILED_PRECONDITION',
  forbidden: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  model_not_found: 'NOT_FOUND',
  method_not_allowed: 'UNIMPLEMENTED',
  conflict: 'ABORTED',
  too_large: 'INVALID_ARGUMENT',
  context_length_exceeded: 'INVALID_ARGUMENT',
  unsupported_media_type: 'INVALID_ARGUMENT',
  rate_limited: 'RESOURCE_EXHAUSTED',
  internal: 'INTERNAL',
  upstream_failed: 'INTERNAL',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
}

/** The machine-readable reason of kinds whose status word is too coarse to act on. */
const REASONS: ReadonlyMap<ErrorKind, string> = new Map([
  ['invalid_credentials', BAD_KEY],
  ['insufficient_credit', 'INSUFFICIENT_CREDIT'],
  ['model_not_found', 'MODEL_NOT_FOUND'],
  ['too_large', 'REQUEST_TOO_LARGE'],
  ['context_length_exceeded', 'CONTEXT_LENGTH_EXCEEDED'],
  ['rate_limited', 'RATE_LIMIT_EXCEEDED'],
])

function encodeDetails(error: GatewayError, requestId: string, retryAfter: number | undefined): JsonObject[] {
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

/** Errors come as an object, as a list of one (streams without `alt=sse`), or as a bare text from something in between. */
function errorOf(body: JsonValue | undefined): JsonObject {
  const first = Array.isArray(body) ? body[0] : body
  if (!isJsonObject(first)) return {}
  if (isJsonObject(first.error)) return first.error
  return typeof first.error === 'string' ? { message: first.error } : first
}

function statusOf(status: number, code: JsonValue | undefined): number {
  if (status >= 400) return status
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
    ? code
    : STATUS_OF_KIND.upstream_failed
}

/** `RetryInfo.retryDelay`, such as `34.4s`, in seconds. */
function retryDelayOf(details: readonly JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const match = typeof retryDelay === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay) : null
    if (match) return Number(match[1])
  }
  return undefined
}
