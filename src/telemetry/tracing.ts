/**
 * Reports each request's steps, so that a trace can be made of them. Passed in like any dependency, undefined without tracing.
 * Calls pass plain facts by the request's id, and no content.
 */
import type { EmbeddingRequest } from '@/chat/embedding'
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { Payer } from '@/ledger/outcomes'
import type { EndedAnswer } from '@/metrics/ended-answer'
import type { AttemptFault } from '@/routing/failover/fault-class'
import type { PlannedTarget } from '@/routing/plan/plan'

/** The parts of a request's way that take time of their own, beside its attempts. */
type StepName = 'plan' | 'reserve' | 'settle'

/** Words and numbers of ours, or lists of them. */
export type StepFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** One call to a provider, with its request. */
export type AttemptStart = { number: number; planned: PlannedTarget } & (
  | { operation: 'chat'; request: ChatRequest }
  | { operation: 'embeddings'; request: EmbeddingRequest }
)

/** Reads along with an answer, for traces that hold its content. */
export type AnswerListener = { observe(event: ChatEvent): void; observeResponse(response: ChatResponse): void }

/** One call to a provider, told the outcome of it. */
export interface AttemptListener {
  /** By which the provider may go on with the trace. */
  readonly headers: Record<string, string> | undefined
  /** Who is to read along with the answer; undefined unless traces hold content. */
  readonly content: AnswerListener | undefined
  /** The first content is here. */
  began(): void
  /** What went wrong, before the first content or after it; undefined: a fault of ours. */
  failed(fault: AttemptFault | undefined): void
  /** Another attempt was quicker. */
  outrun(): void
}

/** No method throws or waits for anything. Calls about an unknown request are ignored. */
export interface Tracing {
  /** A request has come to the server, for one of our routes; undefined: for none of them. */
  arrived(request: Request, route: string | undefined): void
  /** The head of its answer is on its way. */
  responded(request: Request, status: number): void
  /** Gives the request its id. Its trace goes on until `ended` or `refused`. */
  identified(request: Request, requestId: string): void
  knownPayer(requestId: string, payer: Payer): void
  /** All that there is for the client is known. */
  ended(requestId: string): void
  /** No answer began, or none came of it. */
  refused(requestId: string, error: GatewayError): void
  /** Times a part of the way, and says what `describe` makes of its result. */
  step<Result>(requestId: string, name: StepName, work: Promise<Result>, describe?: (result: Result) => StepFacts): void
  /** A provider is about to be called. Returns the call's listener; undefined if there is none. */
  attempting(requestId: string, attempt: AttemptStart): AttemptListener | undefined
  /** The answer is over and settled. */
  answered(answer: EndedAnswer): void
  /** The id of the request's trace; undefined if it has none. */
  traceIdOf(requestId: string): string | undefined
}
