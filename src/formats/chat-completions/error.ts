/** Errors in this format's own words, both ways. */
import type { ErrorKind, GatewayError } from '@/chat/error'
import type { EncodedError, ProviderError } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

type Words = { type: string; code: string | null }

const WORDS_OF_KIND: Record<ErrorKind, Words> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  invalid_credentials: { type: 'invalid_request_error', code: 'invalid_api_key' },
  insufficient_credit: { type: 'insufficient_quota', code: 'insufficient_quota' },
  forbidden: { type: 'permission_error', code: null },
  not_found: { type: 'invalid_request_error', code: null },
  model_not_found: { type: 'invalid_request_error', code: 'model_not_found' },
  method_not_allowed: { type: 'invalid_request_error', code: null },
  conflict: { type: 'invalid_request_error', code: null },
  too_large: { type: 'invalid_request_error', code: null },
  context_length_exceeded: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  unsupported_media_type: { type: 'invalid_request_error', code: null },
  rate_limited: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  internal: { type: 'server_error', code: null },
  upstream_failed: { type: 'server_error', code: null },
  overloaded: { type: 'server_error', code: null },
  timeout: { type: 'server_error', code: 'timeout' },
}

/** The error as status, body and headers. All four keys are always there, because client libraries read them. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const { param, code, retryAfterSeconds, details, headers } = error.options
  const words = WORDS_OF_KIND[error.kind]
  return {
    status: error.status,
    body: {
      error: { ...details, message: error.message, type: words.type, param: param ?? null, code: code ?? words.code },
    },
    headers: {
      ...headers,
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.max(0, Math.ceil(retryAfterSeconds))) }),
    },
  }
}

/** Keeps an error of many megabytes from travelling into logs. */
const MAX_MESSAGE_CHARS = 4000

/**
 * What a provider's error says. Understands OpenAI's shape, the bare `error` string, FastAPI's `detail`, a top-level
 * `message`, and Google's shape, which may come wrapped in an array. Never throws.
 */
export function decodeError(status: number, body: JsonValue | undefined): ProviderError {
  const root = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(root) && isJsonObject(root.error) ? root.error : root
  const fields = isJsonObject(error) ? error : {}
  const said = [fields.message, isJsonObject(root) ? root.error : undefined, fields.detail, root]
  const message = said.find((candidate) => typeof candidate === 'string' && candidate !== '')
  const word = [fields.code, fields.type, fields.status].find(isWord)
  const retryAfterSeconds = findRetryDelay(fields.details)
  const realStatus = statusWithin(fields, status)
  return {
    status: realStatus,
    kind: typeof word === 'string' ? word : String(realStatus),
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : '',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

function isWord(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== '' && !/^\d+$/.test(value)
}

/** An error inside a 200 says its real status, if at all, as a number in `code` or `status`. */
function statusWithin(fields: JsonObject, status: number): number {
  if (status >= 400) return status
  const numbers = [fields.code, fields.status, fields.status_code].map(Number)
  return numbers.find((number) => Number.isInteger(number) && number >= 400 && number <= 599) ?? status
}

/** Google's RetryInfo, e.g. `"retryDelay": "34.4s"`. */
function findRetryDelay(details: JsonValue | undefined): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const delay = isJsonObject(detail) ? detail.retryDelay : undefined
    const match = typeof delay === 'string' ? /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay) : null
    if (match) return Number(match[1])
  }
  return undefined
}
