/**
 * How long a connection may be silent. The server closes one on which nothing moves, so that a stranger cannot keep it; whoever
 * has said who they are may be kept waiting, and be told things for as long as it takes. So a route that streams has nothing to
 * remember: it knows whom it answers.
 */

/** The server that a request came to. */
type Host = { timeout(request: Request, seconds: number): void }

const hosts = new WeakMap<Request, Host>()

/** Notes which server a request came to. */
export function rememberHost(request: Request, host: Host): void {
  hosts.set(request, host)
}

/** The caller is known: from now on silence ends nothing. Without effect on requests that came through no socket. */
export function allowSilence(request: Request): void {
  hosts.get(request)?.timeout(request, 0)
}
