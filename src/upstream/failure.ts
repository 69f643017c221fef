/** What can go wrong at a provider, told apart by what may be done about it, and what the caller is told of it. */

import type { Provider } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ProviderError } from '@/formats/format'

/**
 * `unreachable` no connection, or it broke before the answer's headers; `timeout` by phase; `refused` the provider answered
 * with an error; `malformed` a 200 that is no answer of its format; `broken` the answer stopped in the middle.
 */
export type UpstreamFailure =
  | { kind: 'unreachable'; detail: string }
  | { kind: 'timeout'; phase: TimeoutPhase }
  | { kind: 'refused'; error: ProviderError }
  | { kind: 'malformed'; detail: string }
  | { kind: 'broken'; detail: string }

/** Which of a provider's timeouts ended a call. */
export type TimeoutPhase = 'connect' | 'first-byte' | 'idle' | 'total'

/** The failure in the caller's terms. A provider's refusal of *our* credentials is never the caller's 401. */
export function toGatewayError(failure: UpstreamFailure, provider: Provider): GatewayError {
  const cause = describeFailure(failure, provider)
  switch (failure.kind) {
    case 'timeout':
      return new GatewayError('timeout', 'The model provider did not answer in time. Try again.', { cause })
    case 'refused':
      return fromProviderError(failure.error, provider, cause)
    case 'unreachable':
    case 'malformed':
    case 'broken':
      return new GatewayError('upstream_failed', 'The model provider failed to answer. Try again.', { cause })
  }
}

/** One line for the log: says everything but secrets. */
export function describeFailure(failure: UpstreamFailure, provider: Provider): string {
  switch (failure.kind) {
    case 'timeout':
      return `${provider.name}: ${failure.phase} timeout`
    case 'refused': {
      const { status, kind, message } = failure.error
      return `${provider.name}: ${status} ${kind}: ${scrub(message, provider)}`
    }
    case 'unreachable':
    case 'malformed':
    case 'broken':
      return `${provider.name}: ${failure.kind}: ${scrub(failure.detail, provider)}`
  }
}

const MAX_MESSAGE_CHARS = 600
const SECRET_SHAPES = [
  /\b(?:sk|pk|rk|svc|key|org|proj|req)[-_][A-Za-z0-9_-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{8,}/g,
  /\bBearer\s+\S+/gi,
  /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi,
]

/**
 * A provider's words, fit for a caller: our configured secrets, anything shaped like a key, an organisation id or an address
 * are cut out, and the length is bounded.
 */
function scrub(message: string, provider: Provider): string {
  let text = message.slice(0, 4 * MAX_MESSAGE_CHARS)
  for (const key of provider.keys) text = text.replaceAll(key.secret, '[redacted]')
  for (const value of Object.values(provider.headers))
    if (value.length >= 8) text = text.replaceAll(value, '[redacted]')
  for (const shape of SECRET_SHAPES) text = text.replace(shape, '[redacted]')
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
}

/** Statuses that judge the request itself; 404 is ours (the catalogue names a model the provider does not know). */
function isCallersFault(status: number): boolean {
  return status === 400 || status === 413 || status === 422
}

/** Words of providers whose model cannot take so long a prompt, in the order of the three formats and then of others. */
const CONTEXT_TOO_LONG =
  /context_(?:length|window)_exceeded|exceed_context_size|maximum context length|prompt is too long|exceeds? (?:the )?(?:model's )?(?:available )?(?:maximum )?context|input token count\b.{0,40}\bexceeds|input is too long for/i

/** Some say it inside a stream that had begun with 200: without a status, which then counts as a bad gateway's. */
const STATUS_OF_STREAM_ERRORS = 502

function isContextTooLong({ status, kind, message }: ProviderError): boolean {
  return (
    /^context_length_exceeded$/i.test(kind) ||
    ((isCallersFault(status) || status === STATUS_OF_STREAM_ERRORS) && CONTEXT_TOO_LONG.test(`${kind} ${message}`))
  )
}

function fromProviderError(error: ProviderError, provider: Provider, cause: string): GatewayError {
  const { status } = error
  if (isContextTooLong(error)) {
    // Clients shorten a conversation by themselves when they are told this; some of them know it by these very words.
    const message = `The prompt is too long for the model: ${scrub(error.message, provider) || 'no figures given'}`
    return new GatewayError('context_length_exceeded', message, { cause, param: 'messages' })
  }
  if (status === 413)
    return new GatewayError('too_large', 'The request is too large for the model provider.', { cause })
  if (isCallersFault(status)) {
    const message = scrub(error.message, provider) || 'no reason given'
    return new GatewayError('invalid_request', `The model provider refused the request: ${message}`, { cause })
  }
  if (status === 429 || status === 503 || status === 529) {
    const retryAfterSeconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS
    const message = 'The model provider is overloaded. Try again.'
    return new GatewayError('overloaded', message, { cause, retryAfterSeconds })
  }
  if (status === 504 || status === 408) {
    return new GatewayError('timeout', 'The model provider did not answer in time. Try again.', { cause })
  }
  return new GatewayError('upstream_failed', 'The model provider failed to answer. Try again.', { cause })
}

const DEFAULT_RETRY_AFTER_SECONDS = 1
