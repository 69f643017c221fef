/** The interface to which the gateway reports a request's steps for tracing: plain data, by request id. */
import type { MediaKind } from '@/catalog/types'
import type { EmbeddingRequest } from '@/chat/embedding'
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { Payer } from '@/ledger/outcomes'
import type { EndedAnswer } from '@/metrics/ended-answer'
import type { AttemptFault } from '@/routing/failover/fault-class'
import type { PlannedTarget } from '@/routing/plan/plan'

/** The steps of a request that take time, apart from its attempts. */
type StepName = 'plan' | 'reserve' | 'settle'

/** Texts and numbers from our code, or lists of them. */
export type StepFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export type AttemptStart = { number: number; planned: PlannedTarget } & (
  | { operation: 'chat'; request: ChatRequest }
  | { operation: 'embeddings'; request: EmbeddingRequest }
  | { operation: MediaKind; request: { stream: boolean } }
)

/** Receives an answer for traces that contain content. */
export type AnswerListener = { observe(event: ChatEvent): void; observeResponse(response: ChatResponse): void }

export interface AttemptListener {
  /** The headers with which the provider can continue the trace. */
  readonly headers: Record<string, string> | undefined
  /** The receiver of the answer; undefined unless traces contain content. */
  readonly content: AnswerListener | undefined
  /** The first content has arrived. */
  began(): void
  /** The call has failed, before or after the first content. `fault` is undefined for an error of ours. */
  failed(fault: AttemptFault | undefined): void
  outrun(): void
}

/** No method throws or waits. Calls about an unknown request are ignored. */
export interface Tracing {
  /** A request has arrived. `route` is undefined if it is for none of our routes. */
  arrived(request: Request, route: string | undefined): void
  responded(request: Request, status: number): void
  /** Gives the request its id. Its trace continues until `ended` or `refused`. */
  identified(request: Request, requestId: string): void
  knownPayer(requestId: string, payer: Payer): void
  /** All content for the client is known. */
  ended(requestId: string): void
  /** No answer began, or it failed. */
  refused(requestId: string, error: GatewayError): void
  /** Times a step, with the attributes that `describe` returns for its result. */
  step<Result>(requestId: string, name: StepName, work: Promise<Result>, describe?: (result: Result) => StepFacts): void
  /** A provider is about to be called. Returns the call's listener; undefined if there is none. */
  attempting(requestId: string, attempt: AttemptStart): AttemptListener | undefined
  answered(answer: EndedAnswer): void
  traceIdOf(requestId: string): string | undefined
}
