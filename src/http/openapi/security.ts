/** How a caller says who it is, as the OpenAPI document names it: an API key in any of its forms, or the session of a browser. */
import { KEY_HEADERS } from '@/http/auth'

const KEY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer svc-…`' },
  ...Object.fromEntries(
    KEY_HEADERS.map((name) => [name, { type: 'apiKey', in: 'header', name, description: 'An API key' } as const]),
  ),
  keyQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'An API key: `?key=svc-…`' },
} as const

const MANAGEMENT_KEY = {
  type: 'http',
  scheme: 'bearer',
  description: 'A management key: `Authorization: Bearer svc-mgmt-…`',
} as const

/** An API key, in whichever form; all work on all endpoints. */
export const BY_KEY = Object.keys(KEY_SCHEMES).map((scheme) => ({ [scheme]: [] }))

/** A management key, in one form alone. */
export const BY_MANAGEMENT_KEY = [{ managementKey: [] }]

/** The cookie of a signed-in person. */
export const BY_SESSION = [{ session: [] }]

/** Every scheme; `sessionCookie` is the cookie's name. */
export function securitySchemes(sessionCookie: string) {
  const description = 'Set by signing in at the dashboard; requests that change something must come from its own pages'
  return {
    ...KEY_SCHEMES,
    managementKey: MANAGEMENT_KEY,
    session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description },
  } as const
}
