/** Authentication schemes for the OpenAPI document: a key, or a browser session. */
import { KEY_HEADERS } from '@/http/auth'

/** One scheme for both kinds of keys, so that the reference page has a single field. Its description names the other key headers. */
const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `Authorization: Bearer svc-…`; for *Management* a management key, `svc-mgmt-…`, for *Operator* an operator key, `svc-op-…`. API keys also work in ' +
    `${KEY_HEADERS.map((name) => `\`${name}\``).join(', ')} and as \`?key=\`.`,
} as const

export const BY_KEY = [{ bearer: [] }]

export const BY_SESSION = [{ session: [] }]

/** All schemes. `sessionCookie` is the cookie's name; undefined if no operation uses a session. */
export function securitySchemes(sessionCookie: string | undefined) {
  const description = 'Set by signing in at the dashboard; requests that change something must come from its own pages'
  const session = sessionCookie && { type: 'apiKey' as const, in: 'cookie' as const, name: sessionCookie, description }
  return { bearer: BEARER, ...(session && { session }) }
}
