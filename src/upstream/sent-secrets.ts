import { mapTexts } from '@/lib/json'
import { MIN_SECRET_CHARS, REDACTED } from '@/lib/redact'
import type { UpstreamFailure } from './failure'

export type SentHeaders = Headers | Readonly<Record<string, string>>

const PUBLIC = new Set([
  ...['accept', 'accept-encoding', 'anthropic-beta', 'anthropic-version', 'content-length', 'content-type', 'host'],
  ...['traceparent', 'tracestate', 'user-agent', 'x-amz-content-sha256', 'x-amz-date'],
])
/** Secret parts of header values: the text after a scheme, the id of a key, a signature. */
const PARTS = /^\w+ (\S+)$|\bCredential=([^/,\s]+)|\bSignature=(\w+)/g

/** Removes the secrets in the call's headers from the failure's text and error, since providers may quote the request. */
export function withoutSent(failure: UpstreamFailure, headers: SentHeaders): UpstreamFailure {
  if (failure.kind === 'timeout') return failure
  const secrets = secretsIn(headers)
  const redact = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
  if (failure.kind !== 'refused') return { ...failure, detail: redact(failure.detail) }
  const { kind, message, own, ...rest } = failure.error
  const error = { ...rest, kind: redact(kind), message: redact(message), ...(own && { own: mapTexts(own, redact) }) }
  return { ...failure, error }
}

/** The secrets, plain and URL-encoded. The longest come first, since one may contain another. */
function secretsIn(headers: SentHeaders): string[] {
  const found = new Set<string>()
  for (const [name, value] of headers instanceof Headers ? headers.entries() : Object.entries(headers)) {
    if (PUBLIC.has(name)) continue
    found.add(value)
    for (const match of value.matchAll(PARTS)) for (const part of match.slice(1)) if (part) found.add(part)
  }
  const long = [...found].filter((secret) => secret.length >= MIN_SECRET_CHARS)
  return [...new Set([...long, ...long.map(encodeURIComponent)])].sort((left, right) => right.length - left.length)
}
