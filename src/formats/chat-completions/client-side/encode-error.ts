/** An error of ours in the words of chat-completions clients. */
import type { ErrorKind, GatewayError } from '@/chat/error'
import type { EncodedError } from '@/formats/format'

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
  client_gone: { type: 'invalid_request_error', code: null },
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
