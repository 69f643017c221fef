/** Errors of providers, classified for failover, and the resulting errors for callers. */
import type { Provider } from '@/catalog/types'
import { type ErrorKind, GatewayError } from '@/chat/error'
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'
import { mapTexts } from '@/lib/json'
import { MIN_SECRET_CHARS, redactForCallers, redactOurs } from '@/lib/redact'

/**
 * `unreachable` no connection, or it failed before the answer's headers; `isUnheard` if the address accepted no connection; `timeout` by
 * phase; `refused` the provider answered with an error; `malformed` a 200 that is invalid in its format; `broken` the answer stopped in the
 * middle. `requestId`: the provider's id of the request, if sent.
 */
export type UpstreamFailure = (
  | { kind: 'unreachable'; detail: string; isUnheard?: true }
  | { kind: 'timeout'; phase: TimeoutPhase }
  | { kind: 'refused'; error: ProviderError; serverTimeMs?: number }
  | { kind: 'malformed'; detail: string }
  | { kind: 'broken'; detail: string }
) & { requestId?: string }

/** The timeout that ended a call. Routing sets `silence`: the target was silent, and another one might answer. */
export type TimeoutPhase = 'connect' | 'first-byte' | 'idle' | 'total' | 'silence'

/** The caller's error. If the caller has the provider's format (`isOwn`), the error has its text. Refused credentials are our fault. */
export function toGatewayError(failure: UpstreamFailure, provider: Provider, isOwn: boolean): GatewayError {
  const known = {
    cause: describeFailure(failure, provider),
    ...(failure.requestId !== undefined && { providerRequestId: failure.requestId }),
  }
  switch (failure.kind) {
    case 'timeout':
      return new GatewayError('timeout', 'The model provider did not answer in time. Try again.', known)
    case 'refused':
      return (isOwn && inOwnWords(failure.error, provider, known)) || fromProviderError(failure.error, provider, known)
    case 'unreachable':
    case 'malformed':
    case 'broken':
      return new GatewayError('upstream_failed', 'The model provider failed to answer. Try again.', known)
  }
}

/** One line for the log with all details except secrets. */
export function describeFailure(failure: UpstreamFailure, provider: Provider): string {
  switch (failure.kind) {
    case 'timeout':
      return `${provider.name}: ${failure.phase} timeout`
    case 'refused': {
      const { status, kind, message } = failure.error
      return `${provider.name}: ${status} ${scrub(kind, provider)}: ${scrub(message, provider)}`
    }
    case 'unreachable':
    case 'malformed':
    case 'broken':
      return `${provider.name}: ${failure.kind}: ${scrub(failure.detail, provider)}`
  }
}

const MAX_MESSAGE_CHARS = 600

/** A provider's text, safe for a caller: without secrets and texts like a key, organisation or address, and bounded. */
function scrub(message: string, provider: Provider): string {
  const text = redactForCallers(message.slice(0, 4 * MAX_MESSAGE_CHARS), secretsOf(provider))
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
}

function secretsOf({ keys, headers, dialect }: Provider): string[] {
  const fixed = Object.values(headers).filter((value) => value.length >= MIN_SECRET_CHARS)
  return [...keys.map((key) => key.secret), ...fixed, ...(dialect.secrets ?? [])]
}

/** The kind of error that the caller gets for each reason of the provider. */
const JUDGEMENTS: ReadonlyMap<ProviderErrorReason, ErrorKind> = new Map([
  ['context-too-long', 'context_length_exceeded'],
  ['too-large', 'too_large'],
  ['filtered', 'invalid_request'],
  ['proof', 'invalid_request'],
  ['unsupported', 'invalid_request'],
  ['request', 'invalid_request'],
])

/** A refusal with the provider's exact text, which clients of its format parse; undefined for errors that are no refusal. */
function inOwnWords(
  { reason, status, message, own }: ProviderError,
  provider: Provider,
  known: Known,
): GatewayError | undefined {
  const kind = JUDGEMENTS.get(reason)
  if (kind === undefined || message === '') return undefined
  const secrets = [...secretsOf(provider), provider.baseUrl, hostOf(provider.baseUrl)]
  const redact = (text: string) => redactOurs(text, secrets)
  return new GatewayError(kind, redact(message), {
    ...known,
    ...(reason === 'filtered' && { code: 'content_filter' }),
    ...(own && { own: { status, error: mapTexts(own, redact) } }),
    ownWords: 'The model provider refused the request.',
  })
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : ''
}

type Known = { cause: string; providerRequestId?: string }

function fromProviderError(error: ProviderError, provider: Provider, known: Known): GatewayError {
  const words = () => scrub(error.message, provider)
  switch (error.reason) {
    case 'context-too-long': {
      // Clients shorten a conversation by themselves on this error; some recognise this text.
      const message = `The prompt is too long for the model: ${words() || 'no figures given'}`
      const ownWords = 'The prompt is too long for the model.'
      return new GatewayError('context_length_exceeded', message, { ...known, param: 'messages', ownWords })
    }
    case 'over-limit':
    case 'too-large':
      return new GatewayError('too_large', 'The request is too large for the model provider.', known)
    case 'filtered': {
      const message = `The model provider's content filter refused the request: ${words() || 'no reason given'}`
      const ownWords = "The model provider's content filter refused the request."
      return new GatewayError('invalid_request', message, { ...known, code: 'content_filter', ownWords })
    }
    case 'proof':
    case 'unsupported':
    case 'request': {
      const message = `The model provider refused the request: ${words() || 'no reason given'}`
      return new GatewayError('invalid_request', message, {
        ...known,
        ownWords: 'The model provider refused the request.',
      })
    }
    case 'rate-limited':
    case 'overloaded': {
      const retryAfterSeconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS
      const message = 'The model provider is overloaded. Try again.'
      return new GatewayError('overloaded', message, { ...known, retryAfterSeconds })
    }
    case 'timeout':
      return new GatewayError('timeout', 'The model provider did not answer in time. Try again.', known)
    case 'credentials':
    case 'forbidden':
    case 'model-not-found':
    case 'server':
    case 'failed-on-length':
    case 'unexpected':
      return new GatewayError('upstream_failed', 'The model provider failed to answer. Try again.', known)
  }
}

const DEFAULT_RETRY_AFTER_SECONDS = 1

/** Names of the header with the request id at providers and clouds. */
const ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id']
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The provider's id of the request, if it sent a valid one. */
export function requestIdIn(headers: Headers): { requestId?: string } {
  for (const name of ID_HEADERS) {
    const requestId = headers.get(name)
    if (requestId !== null && REQUEST_ID.test(requestId)) return { requestId }
  }
  return {}
}

/** The maximum `retry-after` that is respected. */
const MAX_RETRY_AFTER_SECONDS = 3600
/** A limit counts as used up below this remaining share, because hardly any request fits into it. */
const LEAST_PART_LEFT = 0.01

/** The header names for a limit, its remaining part and its reset, of all formats. */
const NAMES = [
  ...['requests', 'tokens'].map((what) => namesOf('x-ratelimit', `-${what}`)),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => namesOf(`anthropic-ratelimit-${what}`)),
  namesOf('x-ratelimit'),
]

function namesOf(before: string, after = '') {
  return { limit: `${before}-limit${after}`, left: `${before}-remaining${after}`, reset: `${before}-reset${after}` }
}

/** The `retry-after` time. For a 429, also whether a limit is used up, whose reset time replaces a missing `retry-after`. */
export function limitsIn(headers: Headers, status: number): Pick<ProviderError, 'retryAfterSeconds' | 'left'> {
  const asked = retryAfter(headers)
  if (status !== 429) return asked === undefined ? {} : { retryAfterSeconds: asked }
  const known = NAMES.flatMap((names) => limitNamed(headers, names))
  const spent = known.filter(({ isSpent }) => isSpent)
  const resets = spent.flatMap(({ resetSeconds }) => resetSeconds ?? [])
  const retryAfterSeconds = asked ?? (resets.length > 0 ? Math.max(...resets) : undefined)
  return {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(known.length > 0 && { left: spent.length > 0 ? 'nothing' : 'something' }),
  }
}

function limitNamed(headers: Headers, names: ReturnType<typeof namesOf>) {
  const left = figure(headers.get(names.left))
  if (left === undefined) return []
  const limit = figure(headers.get(names.limit)) ?? 0
  return [{ isSpent: left === 0 || left < limit * LEAST_PART_LEFT, resetSeconds: resetOf(headers.get(names.reset)) }]
}

function figure(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (milliseconds >= 0) return bounded(milliseconds / 1000)
  const text = headers.get('retry-after')
  if (text === null) return undefined
  return /^\d+(\.\d+)?$/.test(text) ? bounded(Number(text)) : untilDate(text)
}

/** Parses a reset time such as `6m0s`, `120ms` or a date. A number without unit is ignored, since its unit is unknown. */
function resetOf(text: string | null): number | undefined {
  if (text === null || /^[\d.]*$/.test(text)) return undefined
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text)
  if (!match) return untilDate(text)
  const [hours, minutes, seconds, milliseconds] = match.slice(1).map((part) => Number(part ?? 0)) as Parts
  return bounded(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)
}

type Parts = [number, number, number, number]

function untilDate(text: string): number | undefined {
  return bounded((Date.parse(text) - Date.now()) / 1000)
}

function bounded(seconds: number): number | undefined {
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS) : undefined
}
