/**
 * One request that is paid for, from the door to the end of its answer: made once when it arrives, and filled in as it becomes known.
 * The code that answers it reports how it ended.
 */
import { knownError } from '@/chat/error'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { RequestLabels } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { Soon } from '@/lib/wait/soon'
import { openLine, type RequestLine } from '@/metrics/request-line'
import type { JsonBody } from './body'
import { clientAddress } from './client-address'
import type { HttpDeps } from './deps'
import { errorResponse } from './errors'
import { digestOf } from './idempotency/claims'
import type { Once } from './idempotency/operation'
import { IGNORED_TAGS_HEADER, readLabels } from './labels/read-labels'
import { openToPage } from './pages'
import { newRequestId } from './request-id'
import type { Share } from './share/share'
import { allowSilence, endSilence } from './silence'

/** The format of errors, and what is special about the endpoint. */
export type PaidEndpoint = {
  format: Format
  /** The path of it in its first spelling. */
  route: string
  /** The payer, if not found by an API key in the request. */
  payerOf?: (request: Request) => Promise<Payer>
  /** The most values in a body, where these are other than a conversation's. */
  maxJsonValues?: number
}

/** The common part of paid requests. A subclass for each use adds the request and its answer. */
export abstract class PaidRequest {
  readonly requestId = newRequestId()
  readonly format: Format
  readonly arrivedMonotonicMs: number
  /** Wall clock, from when its body is there. */
  arrivedAtMs = 0
  /** Fires when the answer is no longer awaited. */
  signal: AbortSignal
  /** What it leaves in the log. */
  readonly line: RequestLine
  /** Its shares of common resources; undefined until its payer is known. */
  share: Share | undefined = undefined
  /** SHA-256 of its idempotency key, where it has one. */
  idempotencyKey: string | undefined = undefined
  /** The labels that its account sorts usage by; undefined without labels. */
  labels: RequestLabels | undefined = undefined
  /** Tags that were none, if there were such. */
  ignoredTags: string | undefined = undefined
  /** The operation of its idempotency key, where it has one. */
  once: Once | undefined = undefined

  /** `event` is what the log calls it. */
  constructor(
    readonly deps: HttpDeps,
    readonly arrived: Request,
    readonly endpoint: PaidEndpoint,
    event: 'chat' | 'embedding',
  ) {
    this.format = endpoint.format
    this.signal = arrived.signal
    this.arrivedMonotonicMs = deps.clock.monotonic()
    const { requestId, format, signal, arrivedMonotonicMs } = this
    this.line = openLine({ event, requestId, format: format.name, route: endpoint.route, arrivedMonotonicMs, signal })
  }

  /** Has the use case answer what this body asks for. May throw. */
  abstract answer(body: JsonBody): Soon<Response>

  get payer(): Payer {
    assert(this.line.payer, 'a request is answered once its payer is known')
    return this.line.payer
  }

  get clientAddress(): string {
    return clientAddress(this.arrived, this.deps.trustedProxyHops)
  }

  get onSettled(): Once['onSettled'] | undefined {
    return this.once?.onSettled
  }

  /** It is answered, and charged, once: `once` decides when nobody waits any more, and is called at the end. */
  answerOnce(once: Once, claimant: Parameters<typeof digestOf>[0]): void {
    this.once = once
    this.signal = once.signal
    this.idempotencyKey = digestOf(claimant)
  }

  /** The body is there: from now on the connection may be silent until the answer has ended. */
  read(): void {
    this.arrivedAtMs = this.deps.clock.now()
    allowSilence(this.arrived)
    const said = readLabels(this.arrived.headers)
    if (!said) return
    this.labels = said.labels
    this.ignoredTags = said.ignored
  }

  /** Whom the body names as the end user, in the caller's own words. */
  nameEndUser(name: string): void {
    const endUser = this.deps.hashEndUser(this.payer.accountId, name)
    if (endUser !== undefined) this.labels = { ...this.labels, endUser }
  }

  /** The model that is asked for, and whether for a stream. */
  nameModel(model: string, isStream = false): void {
    this.line.requestedModel = model
    this.line.stream = isStream
  }

  /** All that there is for the client is known. */
  onEnd(): void {
    endSilence(this.arrived)
    this.share?.end()
    this.deps.tracing?.ended(this.requestId)
  }

  /** No answer came, and the client has got the error already. */
  onLateFailure(error: unknown): void {
    this.refusal(error, true)
    this.once?.failed()
  }

  /** What its caller gets where there is no answer. */
  refusal(error: unknown, isLate = false): Response {
    const { deps, arrived, line, share, format, requestId } = this
    const { payer, requestedModel: model } = line
    endSilence(arrived)
    share?.end()
    if (payer) deps.unpaid.refused(payer, error, share?.bytesRead ?? 0)
    // A client that hangs up before its request is complete gets no answer.
    if (payer && !arrived.signal.aborted) deps.failures.note({ requestId, payer, format: format.name, model, error })
    const response = errorResponse(error, format, requestId, deps.logger)
    deps.metrics.refused(format.name, model, response.status)
    deps.requestLog.refused(line, arrived, error, response.status, isLate)
    deps.tracing?.refused(requestId, knownError(error))
    return response
  }

  /** The dashboard's own pages are the only ones that call an endpoint whose payer is known otherwise. */
  opened(response: Response): Response {
    if (this.ignoredTags !== undefined) response.headers.set(IGNORED_TAGS_HEADER, this.ignoredTags)
    return this.endpoint.payerOf ? response : openToPage(this.arrived, response)
  }
}
