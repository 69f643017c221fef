/** Removes secrets from text for logs and callers: configured secrets by value, others by their form. */

export type Redact = (text: string) => string

export const REDACTED = '[redacted]'

/** Shorter configured secrets are not searched for, since they may be part of ordinary words. */
export const MIN_SECRET_CHARS = 8

/** The forms of secrets. Each pattern matches only the secret, so that the text around it stays readable. */
const SECRET_SHAPES = [
  '\\bsvc-(?:(?:mgmt|op)-)?[A-Za-z0-9]{12,}',
  '\\bsk-[A-Za-z0-9_-]{8,}',
  '\\bAIza[A-Za-z0-9_-]{8,}',
  '\\bya29\\.[A-Za-z0-9_.-]{8,}',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*',
  '\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*',
  '(?<=\\bBearer\\s{1,8})[A-Za-z0-9._~+/=-]{4,}',
  '(?<=\\bBasic\\s{1,8})[A-Za-z0-9+/=]{8,}',
  '(?<=[?&](?:key|api_key|access_token)=)[^&\\s"\'#]+',
  '(?<=[A-Za-z][A-Za-z0-9+.-]{1,20}://)[^/\\s:@]*:[^/\\s@]+(?=@)',
]

const INTERNAL_SHAPES = [
  '\\b(?:sk|pk|rk|svc|key|org|proj|req)[-_][A-Za-z0-9_-]{8,}',
  '(?<=\\bBearer\\s{1,8})\\S+',
  '\\b[a-z][a-z0-9+.-]*://\\S+',
]
const ACCOUNT_SHAPES = [
  '\\barn:[a-z-]+:[^\\s"\'`,;)]+',
  '\\b(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{12,}\\b',
  '(?<=\\baccount\\W{1,3}(?:id\\W{1,3})?)\\d{12}\\b',
  '\\b(?:org|proj)[-_][A-Za-z0-9]{12,}',
  '(?<=\\bprojects/)[a-z0-9-]+',
]
const OURS = new RegExp([...ACCOUNT_SHAPES, ...SECRET_SHAPES].join('|'), 'gi')
const NOT_FOR_CALLERS = new RegExp([...INTERNAL_SHAPES, ...ACCOUNT_SHAPES, ...SECRET_SHAPES].join('|'), 'gi')

/** Creates a redactor that also knows the exact `secrets` of this process. */
export function createRedactor(secrets: Iterable<string> = []): Redact {
  const exact = longestFirst(secrets)
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .map(escapeForPattern)
  const pattern = new RegExp([...exact, ...SECRET_SHAPES].join('|'), 'gi')
  return (text) => text.replace(pattern, REDACTED)
}

/** Creates a redactor that can learn more secrets, such as keys added later. It forgets none. */
export function createLearningRedactor(secrets: Iterable<string>): {
  redact: Redact
  learn(more: Iterable<string>): void
} {
  const known = new Set(secrets)
  let redact = createRedactor(known)
  return {
    redact: (text) => redact(text),
    learn(more) {
      for (const secret of more) known.add(secret)
      redact = createRedactor(known)
    },
  }
}

/** Makes foreign text safe for callers: removes the exact `secrets` of any length, and all internal data. */
export function redactForCallers(text: string, secrets: Iterable<string>): string {
  return withoutValues(text, secrets).replace(NOT_FOR_CALLERS, REDACTED)
}

/** Removes only our own secrets from a provider's text, for callers that use the provider's format and may parse the text. */
export function redactOurs(text: string, secrets: Iterable<string>): string {
  return withoutValues(text, secrets).replace(OURS, REDACTED)
}

function withoutValues(text: string, secrets: Iterable<string>): string {
  return longestFirst(secrets)
    .filter(Boolean)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
}

/** Replaces longer secrets first, in case one contains another. */
function longestFirst(secrets: Iterable<string>): string[] {
  return [...new Set(secrets)].sort((left, right) => right.length - left.length)
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
