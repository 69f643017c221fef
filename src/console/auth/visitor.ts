/** The sender of a request to the sign-in flows, who may not be identified yet. */

export type Visitor = {
  request: Request
  /** The client's network address: of the connection, or reported by a trusted proxy. */
  address: string
  requestId?: string
}

/** The header that passes the client's address to the library. We always set it; it is never copied from a request. */
export const ADDRESS_HEADER = 'x-client-address'
const USER_AGENT_MAX_CHARS = 300

/** The request headers that the library may see. */
export function headersOf({ request, address }: Visitor): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address })
  const cookie = request.headers.get('cookie')
  if (cookie !== null) headers.set('cookie', cookie)
  headers.set('user-agent', (request.headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX_CHARS))
  return headers
}

/** The headers without the session cookie. */
export function headersWithoutSession(visitor: Visitor): Headers {
  const headers = headersOf(visitor)
  const cookies = (headers.get('cookie') ?? '').split(';').filter((cookie) => !SESSION_COOKIE.test(cookie))
  headers.set('cookie', cookies.join(';'))
  return headers
}

/** The parts of a mailed link: its token, and the request's origin, used if PUBLIC_URL is not set. */
export function linkFor({ request }: Pick<Visitor, 'request'>, token: string): { token: string; origin: string } {
  return { token, origin: new URL(request.url).origin }
}

/** Prefix of all cookie names. `__Host-` binds a cookie to this exact host; browsers accept it only with https. */
export function cookiePrefix(publicUrl: string | undefined): string {
  return publicUrl?.startsWith('https://') ? '__Host-gateway' : 'gateway'
}

const SESSION_COOKIE = /^\s*(__Host-)?gateway\.session_token=/
