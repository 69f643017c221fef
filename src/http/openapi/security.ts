/** How callers authenticate, for the OpenAPI document: a key, or the session of a browser. */
import { KEY_HEADERS } from '@/http/auth'

/**
 * One scheme for both kinds of keys, so that a reader of the reference has one field to fill in. The other headers that carry an API key
 * are in its description.
 */
const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, `Authorization: Bearer svc-…`; for *Management* a management key, `svc-mgmt-…`. API keys also work in ' +
    `${KEY_HEADERS.map((name) => `\`${name}\``).join(', ')} and as \`?key=\`.`,
} as const

/** An API key, or for operations of *Management* a management key. */
export const BY_KEY = [{ bearer: [] }]

/** The cookie of a signed-in person. */
export const BY_SESSION = [{ session: [] }]

/** Every scheme. `sessionCookie`: the name of the cookie; undefined if no operation takes a session. */
export function securitySchemes(sessionCookie: string | undefined) {
  const description = 'Set by signing in at the dashboard; requests that change something must come from its own pages'
  const session = sessionCookie && { type: 'apiKey' as const, in: 'cookie' as const, name: sessionCookie, description }
  return { bearer: BEARER, ...(session && { session }) }
}
