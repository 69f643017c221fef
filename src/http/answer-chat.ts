/** Everything between a request at the door and the use case, the same for every format. */
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Format, Framing, RequestLine } from '@/formats/format'
import { handleChat } from '@/gateway/handle-chat'
import type { SettledAnswer } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { authenticate } from './auth'
import { readJsonBody } from './body'
import type { HttpDeps } from './deps'
import { errorResponse } from './errors'
import { openToPage } from './pages'
import { withQualityHeader } from './quality-header'
import { newRequestId } from './request-id'
import { allowSilence, endSilence } from './silence'

/** What the path says of the request, and how its answer is to be framed. */
export type ChatEndpoint = {
  format: Format
  line: RequestLine
  framing: Framing
  /** Who pays, where that is not said by an API key that the request carries. */
  payerOf?: (request: Request) => Promise<Payer>
  /** What a stream ends in beyond its format's own words, once the cost is known; in the framing's text. */
  epilogue?: (answer: SettledAnswer) => string
}

/** Authenticates, reads and decodes one request, and hands it to the use case. Never rejects: errors become answers. */
export async function answerChat(deps: HttpDeps, request: Request, endpoint: ChatEndpoint): Promise<Response> {
  const { format, line, framing, epilogue } = endpoint
  const requestId = newRequestId()
  const arrivedMonotonicMs = deps.clock.monotonic()
  // The dashboard's own pages are the only ones that call it.
  const isOpen = endpoint.payerOf === undefined
  let payer: Payer | undefined
  let model: string | undefined
  function refuse(error: unknown): Response {
    endSilence(request)
    if (payer) deps.unpaid.refused(payer, error)
    const response = errorResponse(error, format, requestId, deps.logger)
    deps.metrics.refused(format.name, model, response.status)
    return response
  }
  try {
    if (deps.isDraining()) throw restarting()
    payer = await (endpoint.payerOf?.(request) ?? authenticate(deps, request))
    const admission = deps.unpaid.admit(payer, request)
    if (admission) await admission
    const { json, bytes } = await readJsonBody(request, deps)
    const onEnd = allowSilence(request)
    const chat = withQualityHeader(format.decodeRequest(json, line), request.headers)
    model = chat.model
    const response = await handleChat(deps, {
      requestId,
      payer,
      format,
      framing,
      request: chat,
      body: json,
      bodyBytes: bytes,
      signal: request.signal,
      sessionName: request.headers.get('x-svc-session') ?? undefined,
      arrivedAtMs: deps.clock.now(),
      arrivedMonotonicMs,
      epilogue,
      onEnd,
      onLateFailure: (error) => void refuse(error),
    })
    return isOpen ? openToPage(request, response) : response
  } catch (error) {
    const response = refuse(error)
    return isOpen ? openToPage(request, response) : response
  }
}

/** The codec of a format; asserts that it is there. */
export function formatNamed(deps: HttpDeps, name: FormatName): Format {
  const format = deps.formats.get(name)
  assert(format, `no codec for ${name}`)
  return format
}

function restarting(): GatewayError {
  return new GatewayError('overloaded', 'The service is restarting. Try again.', { retryAfterSeconds: 1 })
}
