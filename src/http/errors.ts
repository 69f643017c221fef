/** The one place where an error becomes an answer: in the format of the path's family, with nothing internal in it. */
import { GatewayError } from '@/chat/error'
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

/** Which family's words a path's errors use; chat-completions for everything that belongs to none. */
export function formatOfPath(path: string): FormatName {
  if (/^\/(v1\/)?messages(\/|$)/.test(path)) return 'messages'
  if (path.startsWith('/v1beta') || /(:|%3A)[A-Za-z]+\/?$/i.test(path)) return 'generate-content'
  return 'chat-completions'
}

function retryHeader(error: GatewayError): Record<string, string> {
  const seconds = error.options.retryAfterSeconds
  return seconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }
}
