/** Takes secrets out of text that is about to be logged or shown: the configured ones by value, all others by their shape. */

export type Redact = (text: string) => string

export const REDACTED = '[redacted]'

/** A configured secret shorter than this is not searched for: it would blank out ordinary words. */
export const MIN_SECRET_CHARS = 8

/** Secrets. Each pattern matches only what must go, so that the surrounding text stays readable. */
const SECRET_SHAPES = [
  '\\bsvc-(?:mgmt-)?[A-Za-z0-9]{12,}',
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

/** What is of use in our own log and no caller's business: ids of keys, organisations, projects and requests, and addresses. */
const INTERNAL_SHAPES = [
  '\\b(?:sk|pk|rk|svc|key|org|proj|req)[-_][A-Za-z0-9_-]{8,}',
  '(?<=\\bBearer\\s{1,8})\\S+',
  '\\b[a-z][a-z0-9+.-]*://\\S+',
]
/** Shapes of names for our accounts at a provider. */
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

/** A redactor that can be taught further secrets, such as keys that come into use later. It forgets none. */
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

/** Foreign text, fit for a caller: without the exact `secrets`, of whatever length, and without anything internal. */
export function redactForCallers(text: string, secrets: Iterable<string>): string {
  return withoutValues(text, secrets).replace(NOT_FOR_CALLERS, REDACTED)
}

/** A provider's words for callers of its own format, who read more in them than people do: without what is ours, and else as they are. */
export function redactOurs(text: string, secrets: Iterable<string>): string {
  return withoutValues(text, secrets).replace(OURS, REDACTED)
}

function withoutValues(text: string, secrets: Iterable<string>): string {
  return longestFirst(secrets)
    .filter(Boolean)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
}

/** A secret that holds another goes first, or else its rest would stay. */
function longestFirst(secrets: Iterable<string>): string[] {
  return [...new Set(secrets)].sort((left, right) => right.length - left.length)
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
