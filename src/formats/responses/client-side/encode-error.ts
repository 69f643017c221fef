/** An error of ours in the words of responses clients. */
import type { ErrorKind, GatewayError } from '@/chat/error'
import type { EncodedError } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

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

/** What a failed response says, which needs a code: clients go by it whether to ask again. */
const CODE_OF_FAILURE: Partial<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_prompt',
  too_large: 'invalid_prompt',
  insufficient_credit: 'insufficient_quota',
  context_length_exceeded: 'context_length_exceeded',
  rate_limited: 'rate_limit_exceeded',
}

/** The error as status, body and headers. All four keys are always there, because client libraries read them. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const { retryAfterSeconds, headers } = error.options
  return {
    status: error.status,
    body: { error: encodeBody(error) },
    headers: {
      ...headers,
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.max(0, Math.ceil(retryAfterSeconds))) }),
    },
  }
}

/** The fields of an `error` event: published flat, but sent nested by the service itself, so clients read either. */
export function encodeErrorEvent(error: GatewayError): JsonObject {
  const body = encodeBody(error)
  const { code, message, param } = body
  return { code: code ?? null, message, param: param ?? null, error: body }
}

/** The `error` of a response that failed. */
export function encodeFailure({ kind, message }: GatewayError): JsonObject {
  return { code: CODE_OF_FAILURE[kind] ?? 'server_error', message }
}

function encodeBody({ kind, message, options }: GatewayError): JsonObject {
  const { param, code, details } = options
  const words = WORDS_OF_KIND[kind]
  return { ...details, message, type: words.type, param: param ?? null, code: code ?? words.code }
}
