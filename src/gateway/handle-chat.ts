/** The use case: plan, reserve, try one target after another until one answers, relay what it says, settle. */

import type { Target } from '@/catalog/types'
import { asksForHour } from '@/chat/cache-hints'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { CACHE_CONTROL, leftOutFields } from '@/formats/body-fields'
import type { AnswerContext, Format } from '@/formats/format'
import { attemptTarget, type Begun } from '@/gateway/attempt/attempt'
import { createMeter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { ToolTerms } from '@/gateway/charge/tool-charges'
import { storeClosed } from '@/gateway/hold/denial'
import { type Hold, withHold } from '@/gateway/hold/hold'
import { negotiate, type Offer } from '@/gateway/hold/negotiation'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { relay } from '@/gateway/relay/relay'
import type { Client } from '@/gateway/relay/relayed'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import type { AttemptNote } from '@/routing/journey/journey-state'
import type { FailedAttempt, Ticket } from '@/routing/journey/ticket'
import { sessionOf } from '@/routing/plan/stickiness'
import { describeTrail, routeReason } from '@/routing/route-reason'
import type { ChatCall, ChatDeps } from './chat-call'

/** Answers one chat request. Throws a GatewayError where no answer could begin; the hold is released before it does. */
export async function handleChat(deps: ChatDeps, call: ChatCall): Promise<Response> {
  if (deps.storeWatch.isClosedTo(call.payer.accountId)) throw storeClosed()
  const session = sessionOf(call.payer.accountId, call.request, call.sessionName)
  const negotiation = await negotiate(deps, call, session)
  return withHold(deps, call.payer, call.requestId, negotiation, async (hold, agreed) => {
    const answer = await findAnswer(deps, call, hold, agreed)
    if (answer.begun.kind !== 'abandoned') deps.router.remember(agreed.plan, answer.charge.facts.model, session)
    return relayAnswer(deps, call, agreed, answer)
  })
}

/** The answer that was found: what has begun of it, at which attempt, in whose words, and the charge that goes on with it. */
type FoundAnswer = {
  begun: Begun
  ticket: Ticket
  providerFormat: Format
  charge: OpenCharge
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
}

/** Tries the plan's targets until one answers. Where none does, throws what the first one said. */
async function findAnswer(deps: ChatDeps, call: ChatCall, hold: Hold, agreed: Offer): Promise<FoundAnswer> {
  const { plan, request } = agreed
  const { payer, signal } = call
  const journey = deps.router.begin(plan, { accountId: payer.accountId, stream: request.stream, signal })
  const startedMs = deps.clock.monotonic()
  let firstError: GatewayError | undefined
  let failed: FailedAttempt | undefined
  for (let ticket = await journey.next(); ticket; ticket = await journey.next(failed)) {
    const { model, target } = ticket.planned
    const providerFormat = deps.formats.get(target.provider.format)
    assert(providerFormat, `no codec for ${target.provider.format}`)
    const charge = openCharge(deps, call, hold, ticket, { reason: routeReason(plan, model.id, journey.trail), request })
    const attempt = await attemptTarget(deps, {
      requestId: call.requestId,
      ticket,
      clientFormat: call.format,
      providerFormat,
      request,
      body: call.body,
      signal: call.signal,
      meter: charge.meter,
    })
    if (attempt.kind !== 'failed') {
      const upstreamMs = deps.clock.monotonic() - startedMs
      return { begun: attempt, ticket, providerFormat, charge, upstreamMs }
    }
    firstError ??= attempt.error
    failed = attempt.failed
  }
  throw withTrail(firstError ?? journey.refusal(), journey.trail)
}

/** From now on the books hear of this attempt, should this process die. */
function openCharge(
  { clock }: ChatDeps,
  call: ChatCall,
  hold: Hold,
  ticket: Ticket,
  { reason, request }: { reason: string; request: ChatRequest },
): OpenCharge {
  const { planned, number: attempts } = ticket
  const charge = {
    payer: call.payer,
    hold,
    pricing: planned.model.pricing,
    cost: planned.target.cost,
    tools: request.serverTools && termsOf(request.serverTools, planned.target),
    writesForHour: planned.target.quirks.has(CACHE_CONTROL) && asksForHour(request),
    meter: createMeter(hold.size.bounds.outputTokens),
    facts: { ...plannedFacts(call, planned), attempts, routeReason: reason },
    arrivedMonotonicMs: call.arrivedMonotonicMs,
  }
  keepRenewed(charge, clock)
  return charge
}

function termsOf(tools: readonly ServerTool[], { toolPrices }: Target): ToolTerms[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...byName.values()].flatMap(({ name, unsaidUses }) => {
    const terms = toolPrices?.get(name)
    return terms ? [{ name, unsaidUses, price: terms.price, per: terms.per }] : []
  })
}

/** Alone in a function, so that the renewal keeps the charge and nothing else of what its caller has. */
function keepRenewed(charge: OpenCharge, clock: Clock): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

/** Tells the client; the relay settles when the answer has ended. */
function relayAnswer(deps: ChatDeps, call: ChatCall, agreed: Offer, answer: FoundAnswer): Promise<Response> {
  const { begun, ticket, providerFormat, charge, upstreamMs } = answer
  const { provider } = ticket.planned.target
  const context = contextOf(call, agreed, charge.facts.model)
  const { request, loweredCap } = agreed
  const mayReason = mayHaveReasoned(request, ticket)
  const origin = { client: clientOf(call), provider, providerFormat, ticket, charge, mayReason, context }
  const leftOut = providerFormat === call.format ? leftOutOf(request, ticket) : request.unlisted
  return relay(deps, begun, origin, { upstreamMs, loweredCap, leftOut: leftOut ?? [] })
}

/** Models that can, do unless they are told not to. */
function mayHaveReasoned({ reasoning }: ChatRequest, { planned }: Ticket): boolean {
  if (reasoning?.effort === 'none' || reasoning?.budgetTokens === 0) return false
  return reasoning !== undefined || planned.model.capabilities.has('reasoning')
}

function leftOutOf(request: ChatRequest, { planned }: Ticket): readonly string[] {
  const { quirks, provider } = planned.target
  return leftOutFields(request, { quirks, passFields: provider.passFields })
}

function clientOf({ requestId, payer, format, framing, request, signal, epilogue, onEnd }: ChatCall): Client {
  return {
    requestId,
    accountId: payer.accountId,
    format,
    framing,
    wantsStream: request.stream,
    signal,
    epilogue,
    onEnd,
  }
}

function contextOf({ requestId, arrivedAtMs }: ChatCall, { request, size }: Offer, model: string): AnswerContext {
  return {
    id: requestId,
    model,
    created: Math.floor(arrivedAtMs / 1000),
    wantsUsage: request.wantsUsage,
    ...(request.wantsFunctionCall && { wantsFunctionCall: true }),
    ...(request.answerField !== undefined && { answerField: request.answerField }),
    wantsReasoning: request.reasoning?.visible ?? false,
    estimatedInputTokens: size.estimatedInput,
  }
}

/** Tells a caller who got no answer what was tried. */
function withTrail(error: GatewayError, trail: readonly AttemptNote[]): GatewayError {
  const headers = { ...error.options.headers, 'x-svc-attempts': String(trail.length) }
  if (trail.length > 0) Object.assign(headers, { 'x-svc-attempt-list': describeTrail(trail) })
  return new GatewayError(error.kind, error.message, { ...error.options, headers })
}
