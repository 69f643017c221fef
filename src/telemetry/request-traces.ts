/** Turns the gateway's events into spans and metrics: one span per request, and below it one per step and per call. */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions'
import { ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK } from '@opentelemetry/semantic-conventions/incubating'
import { type ErrorKind, knownError } from '@/chat/error'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import type { EndedAnswer } from '@/metrics/ended-answer'
import { answerAttributes, faultAttributes, requestAttributes, targetAttributes } from './attempt-attributes'
import { createAnswerContent, inputContent } from './content'
import type { GenAiMetrics } from './gen-ai-metrics'
import { describeRequest, tellStatus } from './server-span'
import type { TraceContext } from './trace-context'
import type { AttemptListener, AttemptStart, StepFacts, Tracing } from './tracing'

type RequestTracesOptions = {
  tracer: Tracer
  context: TraceContext
  metrics: GenAiMetrics | undefined
  clock: Pick<Clock, 'monotonic'>
  capturesContent: boolean
}

type AttemptTrace = {
  span: Span
  target: Attributes
  isStream: boolean
  startedMs: number
  hasBegun: boolean
  firstChunkMs: number | undefined
  errorType: string | undefined
  content: ReturnType<typeof createAnswerContent> | undefined
}

type RequestTrace = {
  span: Span
  context: Context
  requestId: string | undefined
  attempts: Map<number, AttemptTrace>
  /** The number of running steps. */
  openSteps: number
  /** Whether the answer's headers were sent, and whether the request has ended. */
  hasResponded: boolean
  isOver: boolean
}

/** More than a process's concurrent requests. More traces exist only if the end of some was never reported. */
const MAX_REQUESTS = 100_000
/** Errors of ours or of providers, not of the caller. */
const OUR_FAULTS: ReadonlySet<ErrorKind> = new Set(['internal', 'upstream_failed', 'overloaded', 'timeout'])

export function createRequestTraces(options: RequestTracesOptions): Tracing {
  const { tracer, context } = options
  const byRequest = new WeakMap<Request, RequestTrace>()
  const byId = createBoundedMap<string, RequestTrace | undefined>(MAX_REQUESTS)

  /** Ends the request's span once all its parts have ended. */
  function endIfOver(request: RequestTrace): void {
    const { requestId, attempts, openSteps, hasResponded, isOver, span } = request
    if (!hasResponded || !isOver || openSteps > 0 || attempts.size > 0) return
    span.end()
    if (requestId !== undefined) byId.set(requestId, undefined)
  }

  function endAttempt(request: RequestTrace, number: number): void {
    const attempt = request.attempts.get(number)
    if (!attempt) return
    request.attempts.delete(number)
    endCall(options, attempt)
    endIfOver(request)
  }

  function listenerTo(request: RequestTrace, attempt: AttemptTrace, number: number): AttemptListener {
    return {
      headers: context.for(attempt.span),
      content: attempt.content,
      began() {
        if (attempt.hasBegun) return
        attempt.hasBegun = true
        if (!attempt.isStream) return
        attempt.firstChunkMs = options.clock.monotonic() - attempt.startedMs
        attempt.span.setAttribute(ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK, attempt.firstChunkMs / 1000)
        attempt.span.addEvent('svc.first_content')
      },
      failed(fault) {
        if (!request.attempts.has(number)) return
        tellFault(attempt, faultAttributes(fault))
        // If the answer has begun, the attempt ends when the answer is settled.
        if (!attempt.hasBegun) endAttempt(request, number)
      },
      outrun() {
        attempt.span.setAttribute('svc.attempt.outcome', 'outrun')
        endAttempt(request, number)
      },
    }
  }

  return {
    arrived(request, route) {
      const { name, attributes } = describeRequest(request, route)
      const parent = context.of(request)
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
      byRequest.set(request, {
        span,
        context: trace.setSpan(parent, span),
        requestId: undefined,
        attempts: new Map(),
        openSteps: 0,
        hasResponded: false,
        isOver: true,
      })
    },
    responded(request, status) {
      const known = byRequest.get(request)
      if (!known) return
      known.hasResponded = true
      tellStatus(known.span, status)
      endIfOver(known)
    },
    identified(request, requestId) {
      const known = byRequest.get(request)
      if (!known) return
      known.requestId = requestId
      known.isOver = false
      known.span.setAttribute('svc.request.id', requestId)
      byId.set(requestId, known)
    },
    knownPayer(requestId, { accountId, keyId }) {
      byId.get(requestId)?.span.setAttributes({ 'svc.account.id': accountId, 'svc.key.id': keyId })
    },
    ended(requestId) {
      const request = byId.get(requestId)
      if (!request) return
      request.isOver = true
      endIfOver(request)
    },
    refused(requestId, { kind, options: { code } }) {
      const request = byId.get(requestId)
      if (!request) return
      request.span.setAttributes({ 'svc.error.kind': kind, 'svc.error.code': code, 'svc.ending': 'refused' })
      if (OUR_FAULTS.has(kind)) request.span.setStatus({ code: SpanStatusCode.ERROR, message: kind })
      request.isOver = true
      endIfOver(request)
    },
    step(requestId, name, work, describe) {
      const request = byId.get(requestId)
      if (!request) return
      const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL }, request.context)
      request.openSteps++
      const end = () => {
        span.end()
        request.openSteps--
        endIfOver(request)
      }
      work.then(
        (result) => {
          if (describe) tellStep(span, name, describe(result))
          end()
        },
        (error: unknown) => {
          const { kind } = knownError(error)
          span.setAttribute(ATTR_ERROR_TYPE, kind)
          if (OUR_FAULTS.has(kind)) span.setStatus({ code: SpanStatusCode.ERROR, message: kind })
          end()
        },
      )
    },
    attempting(requestId, start) {
      const request = byId.get(requestId)
      if (!request) return undefined
      const attempt = beginCall(options, request.context, start)
      request.attempts.set(start.number, attempt)
      return listenerTo(request, attempt, start.number)
    },
    answered(answer) {
      const { line, attempts: number, ending } = answer
      const request = byId.get(line.requestId)
      const attempt = request?.attempts.get(number)
      if (!request || !attempt) return
      const attributes = answerAttributes(answer)
      attempt.span.setAttributes(attributes)
      if (ending === 'broken' && attempt.errorType === undefined) tellFault(attempt, { [ATTR_ERROR_TYPE]: 'broken' })
      request.span.setAttributes(requestSummary(answer, attributes))
      options.metrics?.answered(attempt.target, answer, attempt.errorType)
      endAttempt(request, number)
    },
    traceIdOf(requestId) {
      const spanContext = byId.get(requestId)?.span.spanContext()
      return spanContext && isSpanContextValid(spanContext) ? spanContext.traceId : undefined
    },
  }
}

function beginCall({ tracer, clock, capturesContent }: RequestTracesOptions, parent: Context, start: AttemptStart) {
  const target = targetAttributes(start)
  const { operation, planned, request } = start
  const attributes = { ...target, ...requestAttributes(start) }
  const span = tracer.startSpan(`${operation} ${planned.target.model}`, { kind: SpanKind.CLIENT, attributes }, parent)
  const content = capturesContent && span.isRecording() ? createAnswerContent() : undefined
  if (content && operation === 'chat') span.setAttributes(inputContent(request))
  const isStream = operation === 'chat' && request.stream
  const startedMs = clock.monotonic()
  const unknown = { hasBegun: false, firstChunkMs: undefined, errorType: undefined }
  return { span, target, isStream, startedMs, content, ...unknown }
}

function endCall({ metrics, clock }: RequestTracesOptions, attempt: AttemptTrace): void {
  const { span, target, startedMs, firstChunkMs, errorType, content } = attempt
  if (content) span.setAttributes(content.attributes())
  span.end()
  const durationMs = clock.monotonic() - startedMs
  metrics?.called(target, { durationMs, firstChunkMs, ...(errorType !== undefined && { errorType }) })
}

function tellFault(attempt: AttemptTrace, attributes: Attributes & { [ATTR_ERROR_TYPE]: string }): void {
  attempt.errorType = attributes[ATTR_ERROR_TYPE]
  attempt.span.setAttributes(attributes)
  attempt.span.setStatus({ code: SpanStatusCode.ERROR, message: attempt.errorType })
}

function tellStep(span: Span, name: string, facts: StepFacts): void {
  for (const [fact, value] of Object.entries(facts)) {
    if (value === undefined) continue
    span.setAttribute(`svc.${name}.${fact}`, typeof value === 'object' ? [...value] : value)
  }
}

/** The attributes of an answer by which people search for requests. */
function requestSummary({ model, durationMs, firstTokenMs }: EndedAnswer, attributes: Attributes): Attributes {
  return {
    'svc.model': model,
    'svc.ending': attributes['svc.ending'],
    'svc.cost_nano_usd': attributes['svc.cost_nano_usd'],
    'svc.billing_rule': attributes['svc.billing_rule'],
    'svc.first_token_ms': firstTokenMs ?? undefined,
    'svc.duration_ms': durationMs,
  }
}
