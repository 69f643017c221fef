/** What the routes of sign-in share: their dependencies, the visitor behind a request, and passing cookies on. */
import type { Auth } from '@/console/auth/auth'
import type { Answer } from '@/console/auth/parts'
import type { Visitor } from '@/console/auth/visitor'
import type { GuardDeps } from '@/console/http/guard'
import { clientAddress } from '@/http/client-address'
import { requestIdOf } from '@/http/request-id'

export type SessionDeps = GuardDeps & { auth: Auth; trustedProxyHops: number }

/** Everything under this prefix is about the person who asks. */
export const SESSION_PREFIX = '/dashboard/api/session'

/** Who sends `request`, and from where. */
export function visitorOf({ trustedProxyHops }: SessionDeps, request: Request): Visitor {
  return { request, address: clientAddress(request, trustedProxyHops), requestId: requestIdOf(request) }
}

/** Puts an answer's cookies on the response, and returns its body. */
export function withCookies<T>(set: { headers: Record<string, unknown> }, { body, cookies }: Answer<T>): T {
  if (cookies.length > 0) set.headers['set-cookie'] = cookies
  return body
}

/** The body of an answer that has nothing to say. */
export const DONE_BODY = { done: true } as const
