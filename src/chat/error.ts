/** The one way a request ends badly: an error with a meaning, which each format then writes in its own words. */
import type { JsonObject } from '@/lib/json'
import type { RateLimits } from './rate-limits'

/** What went wrong, in the caller's terms, with one HTTP status each. `client_gone` is never sent. */
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
  /** The request field at fault, e.g. `messages[3].content`. */
  param?: string
  /** A machine-readable word finer than the kind, e.g. `key_budget_exceeded`. */
  code?: string
  /** Seconds after which a retry may succeed; sent as {@link retryHeader} says. */
  retryAfterSeconds?: number
  /** Further facts for the body, e.g. needed, available and held USD of a 402. */
  details?: Record<string, string | number | boolean | null>
  /** The limits of the caller's key, of which one is reached: told in the format's own headers. */
  limits?: RateLimits
  /** Headers beyond `retry-after` and those of the limits. */
  headers?: Record<string, string>
  /** The message where it may be kept: without what the request, or a provider about it, has said. The message itself unless given. */
  ownWords?: string
  /** What the provider called the request that it failed, so that its people find it. Visible ASCII, at most 128 characters. */
  providerRequestId?: string
  /** The error of a provider that speaks the caller's format, as it wrote it: sent in place of ours. */
  own?: { status: number; error: JsonObject }
  /** What really happened: logged, never sent. */
  cause?: unknown
}

/** Ends a request with an answer for the caller: nothing internal. Anything else that is thrown is a bug. */
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

/** A request that breaks a rule of its format. `param` names the field, and `message` the field and the limit. */
export function invalidRequest(message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, param === undefined ? {} : { param })
}

/** The error for the caller: anything that is no GatewayError is a bug, whose details stay in the log. */
export function knownError(error: unknown): GatewayError {
  return error instanceof GatewayError
    ? error
    : new GatewayError('internal', 'The service had an internal error. Try again.')
}

/** The header that says when a retry may succeed, in whole seconds from 1; none where unknown. */
export function retryHeader({ options: { retryAfterSeconds } }: GatewayError): { 'retry-after'?: string } {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }
}

/** The error of a process that takes nothing new, and ends the streams that it has. */
export function restarting(): GatewayError {
  return new GatewayError('overloaded', 'The service is restarting. Try again.', { retryAfterSeconds: 1 })
}
