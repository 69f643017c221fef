/** Puts the application on a port, with the limits that only the server can enforce. */
import type { Server } from 'bun'
import type { TraceRequest } from '@/boot/telemetry/trace-requests'
import type { Config } from '@/config/config'
import { rememberPeer } from '@/http/client-address'
import { NO_SNIFFING } from '@/http/pages'
import { pathOf } from '@/http/request-line'
import { endSilence, rememberHost } from '@/http/silence'
import { noteWork } from '@/metrics/work-log'
import { createUnreadBodies, hasLargeBody, type UnreadBodies } from './unread-bodies'

/** Idle timeout of unknown clients' connections; a body must bring 16 KiB in this time. */
const STRANGER_IDLE_SECONDS = 20
/** Larger than any legitimate body. The application refuses smaller ones, in the caller's format. */
const HARD_BODY_LIMIT_BYTES = 1024 ** 3

type App = { fetch(request: Request): Response | Promise<Response> }

type ServeOptions = {
  /** Idle timeout of unknown clients' connections; for known callers see http/silence.ts. */
  idleSeconds?: number
  /** If true, each connection closes after its next answer, so that no proxy keeps it. */
  isLeaving?: () => boolean
  trace?: TraceRequest | undefined
}

export function serve(config: Config, app: App, options: ServeOptions = {}): Server<undefined> {
  const { idleSeconds = STRANGER_IDLE_SECONDS, isLeaving = () => false, trace } = options
  const unread = createUnreadBodies(config)
  return Bun.serve({
    hostname: config.host,
    port: config.port,
    reusePort: config.processes > 1,
    idleTimeout: idleSeconds,
    maxRequestBodySize: HARD_BODY_LIMIT_BYTES,
    fetch(request, server) {
      const answer = trace ? trace(request, () => answerAt(server, app, request)) : answerAt(server, app, request)
      if (isLeaving()) return lastOnConnection(answer)
      return hasLargeBody(request) ? answerLarge(request, answer, unread) : answer
    },
    error: () => new Response('Internal error', { status: 500, headers: NO_SNIFFING }),
  })
}

async function answerLarge(
  request: Request,
  answer: Response | Promise<Response>,
  unread: UnreadBodies,
): Promise<Response> {
  const response = await answer
  return unread.isTooMuch(request, response) ? lastOnConnection(response) : response
}

function answerAt(server: Server<undefined>, app: App, request: Request): Response | Promise<Response> {
  // An invalid Host header leaves the URL relative, which later code doesn't handle.
  if (!request.url.startsWith('http') || isAmbiguous(request)) return badHost()
  noteWork(request.url)
  rememberHost(request, server)
  if (!pathOf(request.url).startsWith('/dashboard/')) return app.fetch(request)
  if (!URL.canParse(request.url)) return badHost()
  rememberPeer(request, server.requestIP(request)?.address ?? '0.0.0.0')
  return answerPage(app, request)
}

/** Adds the header that announces the connection's end. Because of it, the server closes the connection. */
async function lastOnConnection(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  response.headers.set('connection', 'close')
  return response
}

/** Bun joins several Host headers with a comma. The proxy may have routed by one of these hosts, while we would use another. */
function isAmbiguous({ headers }: Request): boolean {
  return headers.get('host')?.includes(',') ?? true
}

function badHost(): Response {
  return new Response('Bad Host header', { status: 400, headers: NO_SNIFFING })
}

/** Answers a page's request. An event stream reports its own end; any other answer is complete at once. */
async function answerPage(app: App, request: Request): Promise<Response> {
  const response = await app.fetch(request)
  if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM)) endSilence(request)
  return response
}

const EVENT_STREAM = 'text/event-stream'
