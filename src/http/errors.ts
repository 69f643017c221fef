/** Turns errors into responses, in the format of the request's path and without internal details. */
import { ValueErrorType } from '@sinclair/typebox/errors'
import { ParseError, ValidationError } from 'elysia'
import { GatewayError, invalidRequest, knownError } from '@/chat/error'
import type { Format } from '@/formats/format'
import { isJsonObject, type JsonObject } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import { NO_SNIFFING } from './pages'

/** The response for any thrown error. An error that is not a GatewayError is a bug: it is logged in full and answered with 500. */
export function errorResponse(error: unknown, format: Format, requestId: string, logger: Logger): Response {
  const known = error instanceof GatewayError ? error : undefined
  if (!known) logger.error('unexpected_error', { requestId, error })
  else if (known.status >= 500)
    logger.warn('request_failed', { requestId, kind: known.kind, reason: known.options.cause })
  const told = knownError(error)
  const { status, body, headers } = format.encodeError(told, requestId)
  const own = ownError(told, body)
  return new Response(JSON.stringify(own?.body ?? body), {
    status: own?.status ?? status,
    headers: {
      'content-type': 'application/json',
      ...NO_SNIFFING,
      'x-request-id': requestId,
      ...(told.options.limits && format.rateLimitHeaders(told.options.limits, Date.now())),
      ...headers,
    },
  })
}

/** The provider's own error, if it has all fields of our error. In every format, the error is in the field `error`. */
function ownError(
  { options: { own } }: GatewayError,
  body: JsonObject,
): { status: number; body: JsonObject } | undefined {
  const ours = isJsonObject(body.error) ? body.error : {}
  const isWhole = Object.entries(ours).every(([name, word]) => {
    if (typeof word === 'string') return typeof own?.error[name] === 'string'
    return typeof word !== 'number' || own?.error[name] === own?.status
  })
  return own && isWhole ? { status: own.status, body: { ...body, error: { ...ours, ...own.error } } } : undefined
}

/** Turns Elysia's validation error of a request into ours, with field and expected value. Invalid responses stay internal errors. */
export function meaningOf(error: unknown): unknown {
  if (error instanceof ParseError) {
    return error.cause instanceof GatewayError
      ? error.cause
      : invalidRequest('The body does not match its Content-Type.')
  }
  if (!(error instanceof ValidationError) || error.type === 'response') return error
  const errors = error.all.filter((one) => 'path' in one && 'type' in one)
  const unknown = errors.find(({ type }) => type === ValueErrorType.Never)
  // A misspelt name is often the reason why another field is missing.
  if (unknown) return noSuchField(fieldAt(unknown.path))
  const [first] = errors
  const param = fieldAt(first?.path ?? '')
  return invalidRequest(`${param || 'The request'}: ${first?.summary ?? 'not as documented'}.`, param || undefined)
}

/** The error for an unknown field in a body. */
export function noSuchField(field: string): GatewayError {
  const name = field.slice(0, MAX_NAME_CHARS)
  return invalidRequest(`${name}: there is no such field here.`, name)
}

/** Maximum characters of the caller's field name in an error. */
const MAX_NAME_CHARS = 100

function fieldAt(path: string): string {
  return path.slice(1).replaceAll('/', '.')
}
