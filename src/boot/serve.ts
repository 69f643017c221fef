/** Puts the application on a port, with the limits that only the server itself can keep. */
import type { Server } from 'bun'
import type { Config } from '@/config/config'
import { rememberPeer } from '@/http/client-address'
import { pathOf } from '@/http/request-line'
import { rememberHost } from '@/http/silence'

/** Seconds without a byte after which a connection that is not being answered is closed. */
const IDLE_TIMEOUT_SECONDS = 60
/** Bodies are bounded by the application in the caller's own format; this only stops what ignores that. */
const HARD_BODY_LIMIT_FACTOR = 2

/** Starts listening. A connection may be silent for `idleSeconds`, or for ever once its caller is known. */
export function serve(
  config: Config,
  app: { fetch(request: Request): Response | Promise<Response> },
  idleSeconds = IDLE_TIMEOUT_SECONDS,
): Server<undefined> {
  return Bun.serve({
    hostname: config.host,
    port: config.port,
    reusePort: config.processes > 1,
    idleTimeout: idleSeconds,
    maxRequestBodySize: config.maxBodyBytes * HARD_BODY_LIMIT_FACTOR,
    fetch(request, server) {
      // A Host header that is no host leaves the URL relative: nothing downstream should have to expect that.
      if (!request.url.startsWith('http')) return new Response('Bad Host header', { status: 400 })
      rememberHost(request, server)
      if (pathOf(request.url).startsWith('/dashboard/')) {
        rememberPeer(request, server.requestIP(request)?.address ?? '0.0.0.0')
      }
      return app.fetch(request)
    },
    error: () => new Response('Internal error', { status: 500 }),
  })
}
