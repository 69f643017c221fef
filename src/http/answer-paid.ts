/**
 * Everything between a request at the door and a use case that is paid for, the same for all of them: who calls, within which
 * limits, with what body; and what becomes of a refusal.
 */
import { GatewayError, knownError } from '@/chat/error'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import type { Soon } from '@/lib/wait/soon'
import { openLine, type RequestLine } from '@/metrics/request-line'
import { authenticate } from './auth'
import { type BodySize, readJsonBody } from './body'
import type { HttpDeps } from './deps'
import { errorResponse } from './errors'
import { type Asker, answerOnce } from './idempotency/answer-once'
import { digestOf } from './idempotency/claims'
import { type RequestName, readRequestName } from './idempotency/header'
import type { Once } from './idempotency/operation'
import { openToPage } from './pages'
import { newRequestId } from './request-id'
import type { Share } from './share/share'
import { allowSilence, endSilence } from './silence'

/** In whose words errors are told, and what is special about the way to the endpoint. */
export type PaidEndpoint = {
  format: Format
  /** What the log calls it, and the path of it in its first spelling. */
  event: 'chat' | 'embedding'
  route: string
  /** Who pays, where that is not said by an API key that the request carries. */
  payerOf?: (request: Request) => Promise<Payer>
  /** The most values in a body, where these are other than a conversation's. */
  maxJsonValues?: number
}

/** A request of somebody known, whose body is there. */
type PaidRequest = {
  requestId: string
  payer: Payer
  body: JsonObject
  bodyBytes: number
  signal: AbortSignal
  arrivedAtMs: number
  arrivedMonotonicMs: number
  /** To be called when all that there is for the client is known. */
  onEnd: () => void
  /** To be told how the answer ended, where the request is answered once. */
  onSettled?: Once['onSettled']
  /** Likewise: SHA-256 of its idempotency key. */
  idempotencyKey?: string
  /** The model that is asked for, and whether for a stream; known once the body is decoded. */
  nameModel(model: string, isStream?: boolean): void
  /** No answer came, and the client has been told so already. */
  onLateFailure(error: unknown): void
  /** What the request leaves in the log. */
  line: RequestLine
  /** What it has of what all share. */
  share: Share
}

/** Authenticates and reads one request, and has `answer` answer it. Never rejects: errors become answers. */
export async function answerPaid(
  deps: HttpDeps,
  request: Request,
  endpoint: PaidEndpoint,
  answer: (paid: PaidRequest) => Soon<Response>,
): Promise<Response> {
  const { format, event, route } = endpoint
  const requestId = newRequestId()
  deps.tracing?.identified(request, requestId)
  const arrivedMonotonicMs = deps.clock.monotonic()
  const { signal } = request
  const line = openLine({ event, requestId, format: format.name, route, arrivedMonotonicMs, signal })
  // The dashboard's own pages are the only ones that call it.
  const isOpen = endpoint.payerOf === undefined
  let share: Share | undefined
  function refuse(error: unknown, isLate = false): Response {
    const { payer, requestedModel: model } = line
    endSilence(request)
    share?.end()
    if (payer) deps.unpaid.refused(payer, error, share?.bytesRead ?? 0)
    // Whoever hangs up before the request is whole gets no answer, and misses none.
    if (payer && !signal.aborted) deps.failures.note({ requestId, payer, format: format.name, model, error })
    const response = errorResponse(error, format, requestId, deps.logger)
    deps.metrics.refused(format.name, model, response.status)
    deps.requestLog.refused(line, request, error, response.status, isLate)
    deps.tracing?.refused(requestId, knownError(error))
    return response
  }
  try {
    if (deps.isDraining()) throw restarting()
    const paying = endpoint.payerOf?.(request) ?? authenticate(deps, request)
    const payer = paying instanceof Promise ? await paying : paying
    line.payer = payer
    deps.tracing?.knownPayer(requestId, payer)
    const admission = deps.unpaid.admit(payer, request)
    if (admission) await admission
    const name = readRequestName(request, deps.idempotency !== undefined)
    share = deps.openShare(payer)
    const reading = {
      ...{ maxValues: endpoint.maxJsonValues, onBytes: name?.ofBody, onPiece: share.grow, beforeRead: share.enter },
      // Whoever pays for it may send much at once, but not what takes long to parse.
      beforeParse: ({ dearValues }: BodySize) => share?.takeTurn({ bytes: 0, dearValues }),
    }
    const { json, bytes } = await readJsonBody(request, deps, reading)
    const paid: PaidRequest = {
      requestId,
      payer,
      body: json,
      bodyBytes: bytes,
      signal,
      arrivedAtMs: deps.clock.now(),
      arrivedMonotonicMs,
      onEnd: onEndOf(deps, request, requestId, share),
      line,
      share,
      nameModel(model, isStream = false) {
        line.requestedModel = model
        line.stream = isStream
      },
      onLateFailure: (error) => void refuse(error, true),
    }
    const response = await (name ? answerNamed(deps, paid, name, answer) : answer(paid))
    return isOpen ? openToPage(request, response) : response
  } catch (error) {
    const response = refuse(error)
    return isOpen ? openToPage(request, response) : response
  }
}

/** Lets the connection be silent until the answer has ended. */
function onEndOf({ tracing }: HttpDeps, request: Request, requestId: string, share: Share): () => void {
  const end = allowSilence(request)
  return () => {
    end()
    share.end()
    tracing?.ended(requestId)
  }
}

/** The same for a request that its caller has named: it is answered and charged once. */
function answerNamed(
  deps: HttpDeps,
  paid: PaidRequest,
  { key, fingerprint }: RequestName,
  answer: (paid: PaidRequest) => Soon<Response>,
): Promise<Response> {
  assert(deps.idempotency, 'a name is only read where answers may be kept')
  const { payer, requestId, signal, onEnd, line } = paid
  const claimant = { ...payer, idempotencyKey: key, fingerprint, requestId }
  let isStream = false
  const asker: Asker = {
    signal,
    isStream: () => isStream,
    onReplay(originalRequestId, status) {
      onEnd()
      deps.requestLog.replayed(line, originalRequestId, status)
    },
  }
  return answerOnce({ ...deps, ...deps.idempotency }, claimant, asker, async ({ failed, ...once }) =>
    answer({
      ...paid,
      ...once,
      idempotencyKey: digestOf(claimant),
      nameModel(model, stream = false) {
        paid.nameModel(model, stream)
        isStream = stream
      },
      onLateFailure(error) {
        paid.onLateFailure(error)
        failed()
      },
    }),
  )
}

function restarting(): GatewayError {
  return new GatewayError('overloaded', 'The service is restarting. Try again.', { retryAfterSeconds: 1 })
}
