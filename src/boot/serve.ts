/** Puts the application on a port, with the limits that only the server itself can keep. */
import type { Server } from 'bun'
import type { Config } from '@/config/config'
import { rememberPeer } from '@/http/client-address'
import { pathOf } from '@/http/request-line'

/** Seconds without a byte after which a connection that is not being answered is closed. */
const IDLE_TIMEOUT_SECONDS = 60
/** Bodies are bounded by the application in the caller's own format; this only stops what ignores that. */
const HARD_BODY_LIMIT_FACTOR = 2

/** Answers of the dashboard that may be silent for long: live events, a large file, a model's words. */
const OPEN_ENDED_PATHS = new Set([
  '/dashboard/api/events',
  '/dashboard/api/events/',
  '/dashboard/api/usage/export',
  '/dashboard/api/playground/chat',
])

/** Starts listening. Inference may be silent for minutes, so only other requests are subject to the idle timeout. */
export function serve(
  config: Config,
  app: { fetch(request: Request): Response | Promise<Response> },
): Server<undefined> {
  return Bun.serve({
    hostname: config.host,
    port: config.port,
    reusePort: config.processes > 1,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: config.maxBodyBytes * HARD_BODY_LIMIT_FACTOR,
    fetch(request, server) {
      // A Host header that is no host leaves the URL relative: nothing downstream should have to expect that.
      if (!request.url.startsWith('http')) return new Response('Bad Host header', { status: 400 })
      const path = pathOf(request.url)
      const isDashboard = path.startsWith('/dashboard/')
      if (isDashboard ? OPEN_ENDED_PATHS.has(path) : request.method === 'POST') server.timeout(request, 0)
      if (isDashboard) rememberPeer(request, server.requestIP(request)?.address ?? '0.0.0.0')
      return app.fetch(request)
    },
    error: () => new Response('Internal error', { status: 500 }),
  })
}
