/** One paid request, from its arrival to the end of its answer. Its fields are set when the values become known. */
import type { ModelKind } from '@/catalog/types'
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

export type PaidEndpoint = {
  format: Format
  /** The endpoint's path, as documented. */
  route: string
  /** Finds the payer if the request is not paid by an API key in it. */
  payerOf?: (request: Request) => Promise<Payer>
  /** The most JSON values in a body, if not the limit for conversations. */
  maxJsonValues?: number
  /** The most bytes of a form with files; missing if the body is JSON. */
  maxFormBytes?: number
  /** Set if the request is a line of a batch. */
  batchLine?: BatchLine
}

/** A request that is one line of a batch: its id, and callbacks for its end. */
export type BatchLine = Pick<Once, 'onSettled'> & {
  requestId: string
  /** Returns whether the line ends with this error. Otherwise the line is tried again, and the error is neither logged nor counted. */
  onRefused(error: unknown): boolean
}

export abstract class PaidRequest {
  readonly requestId: string
  readonly format: Format
  readonly arrivedMonotonicMs: number
  /** Set when its body has arrived, by the wall clock. */
  arrivedAtMs = 0
  /** Fires when the answer is no longer awaited. */
  signal: AbortSignal
  readonly line: RequestLine
  /** The request's shares of common resources; undefined until its payer is known. */
  share: Share | undefined = undefined
  /** SHA-256 of its idempotency key, if any. */
  idempotencyKey: string | undefined = undefined
  /** Labels by which its account groups usage; undefined without labels. */
  labels: RequestLabels | undefined = undefined
  /** Invalid tags, if any. */
  ignoredTags: string | undefined = undefined
  /** The operation of its idempotency key, if any. */
  once: Once | undefined = undefined
  /** Called with the end of the request, to cache its answer for equal requests. */
  observed: Once['onSettled'] | undefined = undefined

  constructor(
    readonly deps: HttpDeps,
    readonly arrived: Request,
    readonly endpoint: PaidEndpoint,
    event: ModelKind,
  ) {
    this.requestId = endpoint.batchLine?.requestId ?? newRequestId()
    this.format = endpoint.format
    this.signal = arrived.signal
    this.arrivedMonotonicMs = deps.clock.monotonic()
    this.line = openLine(event, endpoint.format.name, endpoint.route, this)
  }

  /** Decodes the body and lets the use case answer. May throw. */
  abstract answer(body: JsonBody): Soon<Response>

  get payer(): Payer {
    assert(this.line.payer, 'a request is answered once its payer is known')
    return this.line.payer
  }

  get clientAddress(): string {
    return clientAddress(this.arrived, this.deps.trustedProxyHops)
  }

  get onSettled(): Once['onSettled'] | undefined {
    const { once, observed, endpoint } = this
    const own = once?.onSettled ?? endpoint.batchLine?.onSettled
    if (!observed) return own
    return (ending, charge) => {
      own?.(ending, charge)
      observed(ending, charge)
    }
  }

  /** Whether the request is a line of a batch: it has the model's batch price. */
  get isBatch(): boolean {
    return this.endpoint.batchLine !== undefined
  }

  /** Answers and charges the request once. The signal of `once` fires when nobody waits any more. `once` is told the end. */
  answerOnce(once: Once, claimant: Parameters<typeof digestOf>[0]): void {
    this.once = once
    this.signal = once.signal
    this.idempotencyKey = digestOf(claimant)
  }

  /** Called when the body was read. Removes the connection's idle timeout until the answer has ended. */
  read(): void {
    this.arrivedAtMs = this.deps.clock.now()
    allowSilence(this.arrived)
    const said = readLabels(this.arrived.headers)
    if (!said) return
    this.labels = said.labels
    this.ignoredTags = said.ignored
  }

  /** Records a hash of the end user's id from the body. */
  nameEndUser(name: string): void {
    const endUser = this.deps.hashEndUser(this.payer.accountId, name)
    if (endUser !== undefined) this.labels = { ...this.labels, endUser }
  }

  /** Records the requested model, and whether a stream is requested. */
  nameModel(model: string, isStream = false): void {
    this.line.requestedModel = model
    this.line.stream = isStream
  }

  /** Called at the end of the answer, when all content for the client is known. */
  onEnd(): void {
    endSilence(this.arrived)
    this.share?.end()
    this.deps.tracing?.ended(this.requestId)
  }

  /** Called if a stream was begun but no answer came, after the client got the error in the stream. */
  onLateFailure(error: unknown): void {
    this.refusal(error, true)
    this.once?.failed()
    this.observed?.('refused', { kind: 'free' })
  }

  /** The error response that the caller gets if there is no answer. */
  refusal(error: unknown, isLate = false): Response {
    const { deps, arrived, line, share, format, requestId } = this
    const { payer, requestedModel: model } = line
    endSilence(arrived)
    share?.end()
    const { batchLine } = this.endpoint
    const isFinal = batchLine?.onRefused(error) ?? true
    if (payer && !batchLine) deps.unpaid.refused(payer, error, share?.bytesRead ?? 0)
    // A client that disconnected before its request was complete gets no response.
    if (payer && isFinal && !arrived.signal.aborted)
      deps.failures.note({ requestId, payer, format: format.name, model, error })
    const response = errorResponse(error, format, requestId, deps.logger)
    deps.metrics.refused(format.name, model, response.status)
    deps.requestLog.refused(line, arrived, error, response.status, isLate)
    deps.tracing?.refused(requestId, knownError(error))
    return response
  }

  /** Lets other sites' pages read the response, except for endpoints used only by the dashboard, whose payer isn't found by a key. */
  opened(response: Response): Response {
    if (this.ignoredTags !== undefined) response.headers.set(IGNORED_TAGS_HEADER, this.ignoredTags)
    return this.endpoint.payerOf ? response : openToPage(this.arrived, response)
  }
}
