/** Puts the application on a port, with the limits that only the server itself can keep. */
import type { Server } from 'bun'
import type { TraceRequest } from '@/boot/telemetry/trace-requests'
import type { Config } from '@/config/config'
import { rememberPeer } from '@/http/client-address'
import { NO_SNIFFING } from '@/http/pages'
import { pathOf } from '@/http/request-line'
import { endSilence, rememberHost } from '@/http/silence'
import { noteWork } from '@/metrics/work-log'
import { createUnreadBodies, hasLargeBody, type UnreadBodies } from './unread-bodies'

/** Seconds without a byte until a stranger's connection is closed; a body brings 16 KiB for each of them. */
const STRANGER_IDLE_SECONDS = 20
/** Cuts off what no client sends by mistake; smaller bodies are refused by the application in the caller's format. */
const HARD_BODY_LIMIT_BYTES = 1024 ** 3

type App = { fetch(request: Request): Response | Promise<Response> }

type ServeOptions = {
  /** For how long a stranger's connection may be silent; see http/silence.ts for those who are known. */
  idleSeconds?: number
  /** Once true, each connection is closed after the next answer on it, so that no proxy keeps it for later. */
  isLeaving?: () => boolean
  /** Tells of each request, where tracing is on. */
  trace?: TraceRequest | undefined
}

/** Starts listening. */
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

/** The answer to a large body: the last on its connection if too much of such bodies was left unread. */
async function answerLarge(
  request: Request,
  answer: Response | Promise<Response>,
  unread: UnreadBodies,
): Promise<Response> {
  const response = await answer
  return unread.isTooMuch(request, response) ? lastOnConnection(response) : response
}

function answerAt(server: Server<undefined>, app: App, request: Request): Response | Promise<Response> {
  // A Host header that is no host leaves the URL relative: nothing downstream should have to expect that.
  if (!request.url.startsWith('http') || isAmbiguous(request)) return badHost()
  noteWork(request.url)
  rememberHost(request, server)
  if (!pathOf(request.url).startsWith('/dashboard/')) return app.fetch(request)
  if (!URL.canParse(request.url)) return badHost()
  rememberPeer(request, server.requestIP(request)?.address ?? '0.0.0.0')
  return answerPage(app, request)
}

/** The header tells the client, and the server closes the connection after the answer. */
async function lastOnConnection(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  response.headers.set('connection', 'close')
  return response
}

/** Several hosts are one header by now, joined by a comma, of which a proxy in front may have believed another than we would. */
function isAmbiguous({ headers }: Request): boolean {
  return headers.get('host')?.includes(',') ?? true
}

function badHost(): Response {
  return new Response('Bad Host header', { status: 400, headers: NO_SNIFFING })
}

/** The answer to a page is complete at once; a stream for an open page reports its own end. */
async function answerPage(app: App, request: Request): Promise<Response> {
  const response = await app.fetch(request)
  if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM)) endSilence(request)
  return response
}

const EVENT_STREAM = 'text/event-stream'
