/** The error that ends a request. Each format encodes it in its own way. */
import type { JsonObject, JsonValue } from '@/lib/json'
import type { RateLimits } from './rate-limits'

/** Kinds of errors, each with one HTTP status. `client_gone` is never sent. */
export type ErrorKind =
  | 'invalid_request'
  | 'invalid_credentials'
  | 'insufficient_credit'
  | 'forbidden'
  | 'not_found'
  | 'model_not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'precondition_failed'
  | 'too_large'
  | 'context_length_exceeded'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal'
  | 'upstream_failed'
  | 'overloaded'
  | 'timeout'
  | 'client_gone'

export const STATUS_OF_KIND: Record<ErrorKind, number> = {
  invalid_request: 400,
  invalid_credentials: 401,
  insufficient_credit: 402,
  forbidden: 403,
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  context_length_exceeded: 400,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  upstream_failed: 502,
  overloaded: 503,
  timeout: 504,
  client_gone: 499,
}

type GatewayErrorOptions = {
  /** The faulty request field, such as `messages[3].content`. */
  param?: string
  /** A machine-readable code more specific than the kind, such as `key_budget_exceeded`. */
  code?: string
  /** Seconds after which a retry may succeed; sent by {@link retryHeader}. */
  retryAfterSeconds?: number
  /** Further facts for the error body. A 402, for instance, states the USD needed, available and held. */
  details?: Record<string, JsonValue>
  /** The rate limits of the caller's key, if one is reached. Sent in the format's own headers. */
  limits?: RateLimits
  headers?: Record<string, string>
  /** A message that may be stored: it quotes neither the request nor a provider's words about it. Default: the message itself. */
  ownWords?: string
  /** The provider's id of the failed request, for its support. Visible ASCII, at most 128 characters. */
  providerRequestId?: string
  /** The provider's own error, if it is in the caller's format. It is sent in place of this error. */
  own?: { status: number; error: JsonObject }
  /** The underlying error: logged, never sent. */
  cause?: unknown
}

/** Ends a request with an error that the caller may see. Any other thrown error is a bug. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly status: number

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly options: GatewayErrorOptions = {},
  ) {
    super(message, { cause: options.cause })
    this.status = STATUS_OF_KIND[kind]
  }
}

/** A request that breaks a rule of its format. `param` is the field; `message` names field and limit. */
export function invalidRequest(message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, param === undefined ? {} : { param })
}

/** The error to send: any error that is not a GatewayError is a bug, whose details are only logged. */
export function knownError(error: unknown): GatewayError {
  return error instanceof GatewayError
    ? error
    : new GatewayError('internal', 'The service had an internal error. Try again.')
}

/** The retry-after header in whole seconds, at least 1; none if unknown. */
export function retryHeader({ options: { retryAfterSeconds } }: GatewayError): { 'retry-after'?: string } {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }
}

/** The error of a process that is stopping. */
export function restarting(): GatewayError {
  return new GatewayError('overloaded', 'The service is restarting. Try again.', { retryAfterSeconds: 1 })
}
