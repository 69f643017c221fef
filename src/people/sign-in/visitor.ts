/** Shared by sign-in operations: dependencies, the visitor of a request, and cookies. */
import type { Auth } from '@/console/auth/auth'
import type { Answer, AuthParts } from '@/console/auth/parts'
import type { Visitor } from '@/console/auth/visitor'
import type { GuardDeps } from '@/console/http/guard'
import { clientAddress } from '@/http/client-address'
import { requestIdOf } from '@/http/request-id'
import type { VisitorCaller } from '@/people/operation'

export type SessionDeps = GuardDeps & { auth: Auth }

/** The sender of `request`. */
export function visitorOf({ trustedProxyHops, auth }: SessionDeps, request: Request): Visitor {
  if (trustedProxyHops === 0 && request.headers.has('x-forwarded-for')) warnOfProxy(auth.parts)
  return { request, address: clientAddress(request, trustedProxyHops), requestId: requestIdOf(request) }
}

type Set = VisitorCaller['set']

/** Sets an answer's cookies on the response, and returns its body. */
export function withCookies<T>(set: Set, { body, cookies }: Answer<T>): T {
  if (cookies.length > 0) set.headers['set-cookie'] = cookies
  return body
}

/** The body of a response without content. */
export const DONE_BODY = { done: true } as const

/** Sets an answer's cookies, and returns the body of a response without content. */
export function doneWithCookies(set: Set, answer: Answer<unknown>): typeof DONE_BODY {
  withCookies(set, answer)
  return DONE_BODY
}

/** Time of the last warning, so that clients that send the header cannot fill the log. */
const warnedAtMs = new WeakMap<AuthParts, number>()
const WARNING_INTERVAL_MS = 3_600_000

/** Warns of an unexpected header: a client invented it, or all clients behind an undeclared proxy count as one address. */
function warnOfProxy(parts: AuthParts): void {
  const nowMs = performance.now()
  if (nowMs - (warnedAtMs.get(parts) ?? Number.NEGATIVE_INFINITY) < WARNING_INTERVAL_MS) return
  warnedAtMs.set(parts, nowMs)
  parts.logger.warn('forwarded_address_not_trusted', { hint: 'Is a proxy in front? Then set TRUSTED_PROXY_HOPS.' })
}
