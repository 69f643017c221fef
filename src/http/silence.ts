/**
 * Sets the idle timeouts of client connections. The server closes idle connections, so that unknown clients can't keep them. A known
 * caller has more time to send a body. Once the body has arrived, there is no timeout until the answer has ended.
 */

/** The server of a request, which knows the client's address while the connection lives. */
type Host = {
  timeout(request: Request, seconds: number): void
  requestIP?(request: Request): { address: string } | null
}

/** Idle timeout for known callers, between requests and within bodies: longer than the 60 s of common proxies. */
export const KNOWN_IDLE_SECONDS = 75

const hosts = new WeakMap<Request, Host>()
/** Requests with a running answer. */
const answered = new Set<Request>()

/** Stores the server that received a request. */
export function rememberHost(request: Request, host: Host): void {
  hosts.set(request, host)
}

/** Gives a known caller more time to send a body. No effect without a socket. */
export function knowCaller(request: Request): void {
  hosts.get(request)?.timeout(request, KNOWN_IDLE_SECONDS)
}

/** The peer address of the request's connection; undefined if the connection is closed, or there is none. */
export function peerOf(request: Request): string | undefined {
  return hosts.get(request)?.requestIP?.(request)?.address
}

/** Removes the timeout once a known caller's body has arrived. */
export function allowSilence(request: Request): void {
  const host = hosts.get(request)
  if (!host) return
  answered.add(request)
  host.timeout(request, 0)
}

/** Restores the timeout after the answer has ended. */
export function endSilence(request: Request): void {
  if (answered.delete(request)) knowCaller(request)
}

/** Requests of known callers with an answer in progress. */
export function requestsAnswered(): ReadonlySet<Request> {
  return answered
}
