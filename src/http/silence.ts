/**
 * How long a connection may be silent. The server closes one on which nothing moves, so that a stranger cannot keep it. A caller
 * who is known gets longer to send a body; once it is there, silence ends nothing until the answer has ended. So a route that
 * streams has nothing to remember: it knows whom it answers.
 */

/** The server that a request came to, which knows its peer as long as the connection lives. */
type Host = {
  timeout(request: Request, seconds: number): void
  requestIP?(request: Request): { address: string } | null
}

/** Between two requests of a known caller, and in the middle of their bodies: longer than the 60 s of common proxies. */
export const KNOWN_IDLE_SECONDS = 75

const hosts = new WeakMap<Request, Host>()
/** Requests whose answers are under way. */
const answered = new Set<Request>()

/** Notes which server a request came to. */
export function rememberHost(request: Request, host: Host): void {
  hosts.set(request, host)
}

/** The caller is known, and has time to send a body. Without effect on requests that came through no socket. */
export function knowCaller(request: Request): void {
  hosts.get(request)?.timeout(request, KNOWN_IDLE_SECONDS)
}

/** The address at the other end of its connection; undefined if that is closed, or there is none. */
export function peerOf(request: Request): string | undefined {
  return hosts.get(request)?.requestIP?.(request)?.address
}

/** The caller is known and has said everything: from now on silence ends nothing. */
export function allowSilence(request: Request): void {
  const host = hosts.get(request)
  if (!host) return
  answered.add(request)
  host.timeout(request, 0)
}

/** The answer has ended: its connection may wait for the next request, and not for ever. */
export function endSilence(request: Request): void {
  if (answered.delete(request)) knowCaller(request)
}

/** The requests of known callers that are being answered. */
export function requestsAnswered(): ReadonlySet<Request> {
  return answered
}
