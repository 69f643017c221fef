/** The one place where an error becomes an answer: in the format of the path's family, with nothing internal in it. */
import { ParseError, ValidationError } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import type { Logger } from '@/lib/logger'

/** Turns whatever was thrown into the caller's answer. What is not a GatewayError is a bug: logged whole, answered with 500. */
export function errorResponse(error: unknown, format: Format, requestId: string, logger: Logger): Response {
  const known = error instanceof GatewayError ? error : undefined
  if (!known) logger.error('unexpected_error', { requestId, error })
  else if (known.status >= 500)
    logger.warn('request_failed', { requestId, kind: known.kind, reason: known.options.cause })
  const told = known ?? new GatewayError('internal', 'The service had an internal error. Try again.')
  const { status, body, headers } = format.encodeError(told, requestId)
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...retryHeader(told),
      ...told.options.headers,
      ...headers,
    },
  })
}

/**
 * What the framework says of a request that does not fit its route, in our words: the field and what was expected of it. An
 * answer that does not fit is our own fault, and stays what it is.
 */
export function meaningOf(error: unknown): unknown {
  if (error instanceof ParseError && error.cause instanceof GatewayError) return error.cause
  if (!(error instanceof ValidationError) || error.type === 'response') return error
  const [first] = error.all
  const path = first && 'path' in first ? first.path : ''
  const param = path.slice(1).replaceAll('/', '.')
  return invalidRequest(`${param || 'The request'}: ${first?.summary ?? 'not as documented'}.`, param || undefined)
}

/**
 * Which family's words the errors of a request use. A path that families share (the model lists) or that belongs to none is
 * told by the headers that only one family's clients send; chat-completions where they don't say either.
 */
export function formatOfRequest(path: string, headers: Headers): FormatName {
  if (/^\/(v1\/)*messages(\/|$)/.test(path)) return 'messages'
  if (/^\/v1(beta|alpha)/.test(path) || /(:|%3A)[A-Za-z]+\/?$/i.test(path)) return 'generate-content'
  if (/^\/(v1\/)*chat\//.test(path)) return 'chat-completions'
  if (isFamilyThree(headers)) return 'generate-content'
  return headers.has('anthropic-version') ? 'messages' : 'chat-completions'
}

/** Whether a client of the generate-content family sent these headers. */
export function isFamilyThree(headers: Headers): boolean {
  return headers.has('x-goog-api-client') || headers.has('x-goog-api-key')
}

function retryHeader(error: GatewayError): Record<string, string> {
  const seconds = error.options.retryAfterSeconds
  return seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }
}
