/** Takes secrets out of text that is about to be logged or shown: the configured ones by value, all others by their shape. */

export type Redact = (text: string) => string

export const REDACTED = '[redacted]'

/** A configured secret shorter than this is not searched for: it would blank out ordinary words. */
const MIN_SECRET_CHARS = 8

/** Each pattern matches only what must go, so that the surrounding text stays readable. */
const KEY_SHAPES = [
  '\\bsvc-[A-Za-z0-9]{12,}',
  '\\bsk-[A-Za-z0-9_-]{8,}',
  '\\bAIza[A-Za-z0-9_-]{8,}',
  '\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*',
  '(?<=\\bBearer\\s{1,8})[A-Za-z0-9._~+/=-]{4,}',
  '(?<=\\bBasic\\s{1,8})[A-Za-z0-9+/=]{8,}',
  '(?<=[?&](?:key|api_key|access_token)=)[^&\\s"\'#]+',
  '(?<=[A-Za-z][A-Za-z0-9+.-]{1,20}://)[^/\\s:@]*:[^/\\s@]+(?=@)',
]

/** Creates a redactor that also knows the exact `secrets` of this process. */
export function createRedactor(secrets: Iterable<string> = []): Redact {
  const exact = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .sort((left, right) => right.length - left.length)
    .map(escapeForPattern)
  const pattern = new RegExp([...exact, ...KEY_SHAPES].join('|'), 'gi')
  return (text) => text.replace(pattern, REDACTED)
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
