/** The use case: plan, reserve, try one target after another until one answers, relay what it says, settle. */

import { GatewayError } from '@/chat/error'
import type { ChatRequest, Warning } from '@/chat/request'
import { unfold } from '@/chat/unfold'
import { type Attempt, attemptTarget } from '@/gateway/attempt/attempt'
import type { StreamSource } from '@/gateway/attempt/stream-source'
import { createMeter } from '@/gateway/charge/meter'
import { type Hold, withHold } from '@/gateway/hold/hold'
import { negotiate } from '@/gateway/hold/negotiation'
import { relayJson } from '@/gateway/relay/relay-json'
import { relayStream } from '@/gateway/relay/relay-stream'
import { createSignatureCollector } from '@/gateway/relay/signature-store'
import { assert } from '@/lib/assert'
import type { Journey } from '@/routing/journey/journey'
import type { FailedAttempt, Ticket } from '@/routing/journey/ticket'
import type { Plan } from '@/routing/plan/plan'
import { sessionOf } from '@/routing/plan/stickiness'
import { describeTrail, routeReason } from '@/routing/route-reason'
import { describeFailure, toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import { type Answer, CLIENT_CLOSED_STATUS, isRunaway, progressOf, RUNAWAY, settleAnswer } from './answer'
import type { ChatCall, ChatDeps } from './chat-call'

/** Answers one chat request. Throws a GatewayError where no answer could begin; the hold is released before it does. */
export async function handleChat(deps: ChatDeps, arrived: ChatCall): Promise<Response> {
  const session = sessionOf(arrived.payer.accountId, arrived.request, arrived.sessionName)
  const negotiation = await negotiate(deps, arrived, session)
  return withHold(deps, arrived.payer, arrived.requestId, negotiation, (hold) => {
    const { plan, call, loweredCap } = negotiation.draft()
    return answerFromPlan(deps, call, { plan, session, hold, loweredCap })
  })
}

/** What an answer is to be made with. */
type Means = { plan: Plan; session: string | undefined; hold: Hold; loweredCap: number | undefined }

async function answerFromPlan(deps: ChatDeps, call: ChatCall, means: Means): Promise<Response> {
  const journey = deps.router.begin(means.plan, call.request.stream, call.signal)
  const startedMs = deps.clock.monotonic()
  let primary: GatewayError | undefined
  let failed: FailedAttempt | undefined
  for (let ticket = await journey.next(); ticket; ticket = await journey.next(failed)) {
    const answer = describeAnswer(deps, call, means, journey, ticket)
    means.hold.onRenewal(() => progressOf(answer))
    const attempt = await tryTarget(answer, ticket)
    answer.upstreamMs = deps.clock.monotonic() - startedMs
    if (attempt.kind !== 'failed') return relayAttempt(answer, attempt, means)
    primary ??= attempt.error
    failed = attempt.failed
  }
  throw withTrail(primary ?? journey.refusal(), journey)
}

/** An attempt that failed: what the caller is told if no other does better, and what the journey decides by. */
type Failed = { kind: 'failed'; error: GatewayError; failed: FailedAttempt }

/** One attempt, reported to its ticket. A request that the target's format cannot carry is a failure like any other. */
async function tryTarget(answer: Answer, ticket: Ticket): Promise<Exclude<Attempt, { kind: 'failed' }> | Failed> {
  const { call, planned, providerFormat } = answer
  try {
    const attempt = await attemptTarget({
      planned,
      key: ticket.key,
      clientFormat: call.format,
      providerFormat,
      request: call.request,
      body: call.body,
      signal: call.signal,
      observe(event) {
        answer.meter.observe(event)
        return isRunaway(answer) ? RUNAWAY : undefined
      },
      onWarnings: (warnings) => noteWarnings(answer, warnings),
    })
    if (attempt.kind === 'abandoned') ticket.abandoned()
    else if (attempt.kind === 'failed') return noteFailure(answer, ticket, attempt.failure)
    else ticket.began()
    return attempt
  } catch (error) {
    const failed = ticket.failed({ kind: 'unencodable' })
    if (error instanceof GatewayError) return { kind: 'failed', error, failed }
    throw error
  }
}

/** What was left out is said by feature; the details may quote the caller's own values, and stay out of the log. */
function noteWarnings({ call, deps, planned }: Answer, warnings: readonly Warning[]): void {
  const features = [...new Set(warnings.map((warning) => warning.feature))]
  deps.logger.info('request_features_left_out', { requestId: call.requestId, model: planned.model.id, features })
}

function noteFailure(answer: Answer, ticket: Ticket, failure: UpstreamFailure): Failed {
  const { call, deps, planned, attempts } = answer
  const { provider } = planned.target
  const failed = ticket.failed(failure)
  const reason = describeFailure(failure, provider)
  deps.logger.warn('attempt_failed', { requestId: call.requestId, model: planned.model.id, attempt: attempts, reason })
  return { kind: 'failed', error: toGatewayError(failure, provider), failed }
}

/** Relays what has begun. Whatever goes wrong before a relay owns the answer ends its attempt as well. */
async function relayAttempt(
  answer: Answer,
  attempt: Exclude<Attempt, { kind: 'failed' }>,
  { plan, session }: Means,
): Promise<Response> {
  if (attempt.kind !== 'abandoned') answer.deps.router.remember(plan, answer.planned.model.id, session)
  try {
    return await relay(answer, attempt)
  } catch (error) {
    answer.ticket.ended(true)
    throw error
  }
}

/** Tells a caller who got no answer what was tried. */
function withTrail(error: GatewayError, { trail }: Journey): GatewayError {
  const headers = { ...error.options.headers, 'x-svc-attempts': String(trail.length) }
  if (trail.length > 0) Object.assign(headers, { 'x-svc-attempt-list': describeTrail(trail) })
  return new GatewayError(error.kind, error.message, { ...error.options, headers })
}

function describeAnswer(deps: ChatDeps, call: ChatCall, means: Means, journey: Journey, ticket: Ticket): Answer {
  const { planned } = ticket
  const { plan, hold, loweredCap } = means
  const providerFormat = deps.formats.get(planned.target.provider.format)
  assert(providerFormat, `no codec for ${planned.target.provider.format}`)
  const { request } = call
  return {
    call,
    deps,
    hold,
    planned,
    ticket,
    routeReason: routeReason(plan, planned.model.id, journey.trail),
    providerFormat,
    meter: createMeter(),
    signatures: providerFormat === call.format ? undefined : createSignatureCollector(),
    attempts: ticket.number,
    upstreamMs: 0,
    timing: { firstTokenMs: null },
    loweredCap,
    context: {
      id: call.requestId,
      model: planned.model.id,
      created: Math.floor(call.arrivedAtMs / 1000),
      wantsUsage: request.wantsUsage,
      wantsReasoning: wantsReasoning(request),
      estimatedInputTokens: hold.size.estimatedInput,
    },
  }
}

function wantsReasoning(request: ChatRequest): boolean {
  return request.reasoning?.visible ?? false
}

/** Shows the answer in the shape the client asked for, whichever shape the provider chose. */
async function relay(answer: Answer, attempt: Exclude<Attempt, { kind: 'failed' }>): Promise<Response> {
  const wantsStream = answer.call.request.stream
  switch (attempt.kind) {
    case 'abandoned':
      return relayAbandoned(answer)
    case 'complete': {
      const { response, raw } = attempt
      if (!wantsStream) return relayJson(answer, { response, raw })
      const items = [{ sse: { event: undefined, data: undefined, raw: '' }, json: undefined, events: unfold(response) }]
      return relayStream(answer, { source: EMPTY_SOURCE, held: items, pending: undefined, isRaw: false })
    }
    case 'stream':
      return relayStream(answer, { ...attempt, isRaw: true })
  }
}

async function relayAbandoned(answer: Answer): Promise<Response> {
  await settleAnswer(answer, 'disconnected', CLIENT_CLOSED_STATUS)
  return new Response(null, { status: CLIENT_CLOSED_STATUS })
}

const EMPTY_SOURCE: StreamSource = {
  next: async () => ({ kind: 'done', events: [] }),
  outliveClient: () => undefined,
  abort: () => undefined,
}
