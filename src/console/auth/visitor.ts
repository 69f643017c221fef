/** Who sends a request to the flows of sign-in, before it is known who that is. */

export type Visitor = {
  request: Request
  /** The client's network address: the peer of the connection, or what a trusted proxy says. */
  address: string
  /** For the audit log. */
  requestId?: string
}

/** The header in which the client's address is handed to the library: set by us, never taken from a request. */
export const ADDRESS_HEADER = 'x-client-address'
const USER_AGENT_MAX_CHARS = 300

/** The headers of a visitor's request that the library may see. */
export function headersOf({ request, address }: Visitor): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address })
  const cookie = request.headers.get('cookie')
  if (cookie !== null) headers.set('cookie', cookie)
  headers.set('user-agent', (request.headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX_CHARS))
  return headers
}

/** The same without the cookie of a session, for steps that have to start from nothing. */
export function headersWithoutSession(visitor: Visitor): Headers {
  const headers = headersOf(visitor)
  const cookies = (headers.get('cookie') ?? '').split(';').filter((cookie) => !SESSION_COOKIE.test(cookie))
  headers.set('cookie', cookies.join(';'))
  return headers
}

/** What a mail's link is made of: its token, and where to, if no address is configured. */
export function linkFor({ request }: Pick<Visitor, 'request'>, token: string): { token: string; origin: string } {
  return { token, origin: new URL(request.url).origin }
}

/** What the names of all cookies begin with. `__Host-` binds one to this very host; browsers accept it with https only. */
export function cookiePrefix(publicUrl: string | undefined): string {
  return publicUrl?.startsWith('https://') ? '__Host-gateway' : 'gateway'
}

const SESSION_COOKIE = /^\s*(__Host-)?gateway\.session_token=/
