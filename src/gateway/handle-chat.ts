/** The use case: plan, reserve, find an answer, relay what it says, settle. */
import { knownError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { AnswerContext } from '@/formats/format'
import { storeClosed } from '@/gateway/hold/denial'
import { type Hold, withHold } from '@/gateway/hold/hold'
import { negotiate, type Offer } from '@/gateway/hold/negotiation'
import { describePlan } from '@/gateway/hold/request-facts'
import { waitingHeaders } from '@/gateway/relay/headers'
import { answerLate } from '@/gateway/relay/late-stream'
import { relay } from '@/gateway/relay/relay'
import type { Client } from '@/gateway/relay/relayed'
import { withDeadline } from '@/lib/deadline'
import type { Permit } from '@/routing/failover/permit'
import type { Session } from '@/routing/plan/session'
import type { ChatCall, ChatDeps } from './chat-call'
import { type FoundAnswer, findAnswer } from './find-answer'

/** Answers one chat request. Throws a GatewayError where no answer could begin; the hold is released before it does. */
export function handleChat(deps: ChatDeps, call: ChatCall): Promise<Response> {
  if (deps.storeWatch.isClosedTo(call.payer.accountId)) throw storeClosed()
  const session = deps.router.sessionOf(call.request, call.payer.accountId, call.sessionName)
  const negotiating = deps.tracing ? negotiateTraced(deps, call, session) : negotiate(deps, call, session)
  return withHold(deps, call.payer, call.requestId, negotiating, (hold, offer) => {
    const answering = answer(deps, call, hold, offer, session)
    return call.request.stream ? unlessLate(deps, call, hold, offer, answering) : answering
  })
}

function negotiateTraced(deps: ChatDeps, call: ChatCall, session: Session | undefined) {
  const negotiating = Promise.try(() => negotiate(deps, call, session))
  deps.tracing?.step(call.requestId, 'plan', negotiating, ({ first }) => describePlan(first.plan))
  return negotiating
}

async function unlessLate(deps: ChatDeps, call: ChatCall, hold: Hold, offer: Offer, answering: Promise<Response>) {
  const early = await withDeadline(answering, deps.lateAfterMs, () => undefined)
  return early ?? answerMeanwhile(deps, call, hold, offer, answering)
}

async function answer(deps: ChatDeps, call: ChatCall, hold: Hold, offer: Offer, session: Session | undefined) {
  const found = await findAnswer(deps, call, hold, offer)
  if (found.started.kind !== 'abandoned') {
    deps.router.remember(offer.plan, found.charge.facts.model, session)
    found.charge.onObservedEnd = observe(deps, call, found, session)
  }
  return relayAnswer(deps, call, offer, found)
}

function observe({ observer }: ChatDeps, call: ChatCall, { charge }: FoundAnswer, session: Session | undefined) {
  const { requestId, requestedModel: tier, model } = charge.facts
  const turns = call.request.turns.length
  return observer.answered({ requestId, tier, model, session: session?.to, turns, arrivedMs: call.arrivedMonotonicMs })
}

/** From now on the stream takes care of the hold. */
function answerMeanwhile(deps: ChatDeps, call: ChatCall, hold: Hold, offer: Offer, answering: Promise<Response>) {
  const { requestId, format, onLateFailure } = call
  hold.handOver()
  return answerLate(deps, {
    client: clientOf(call),
    context: contextOf(call, offer, offer.plan.models[0]?.id ?? call.request.model),
    headers: waitingHeaders(deps.clock, format, { hold, requestId }, offer.loweredCap),
    answering,
    async onFailure(error) {
      await hold.release()
      onLateFailure(error)
      return knownError(error)
    },
  })
}

/** Tells the client; the relay settles when the answer has ended. */
function relayAnswer(deps: ChatDeps, call: ChatCall, offer: Offer, answer: FoundAnswer): Promise<Response> {
  const { started, permit, providerFormat, charge, upstreamMs, leftOut } = answer
  const { provider } = permit.planned.target
  const context = contextOf(call, offer, charge.facts.model)
  const { request, loweredCap } = offer
  const mayReason = mayHaveReasoned(request, permit)
  const origin = { client: clientOf(call), provider, providerFormat, permit, charge, mayReason, context }
  return relay(deps, started, origin, { upstreamMs, loweredCap, leftOut })
}

/** Models that can, do unless they are told not to. */
function mayHaveReasoned({ reasoning }: ChatRequest, { planned }: Permit): boolean {
  if (reasoning?.effort === 'none' || reasoning?.budgetTokens === 0) return false
  return reasoning !== undefined || planned.model.capabilities.has('reasoning')
}

function clientOf(call: ChatCall): Client {
  const { requestId, payer, format, framing, request, signal, epilogue, onEnd, onSettled, keep, isPrivate } = call
  return {
    requestId,
    accountId: payer.accountId,
    format,
    framing,
    wantsStream: request.stream,
    signal,
    epilogue,
    onEnd,
    onSettled,
    keep,
    isPrivate,
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
    ...(request.toolOrigins && { toolOrigins: request.toolOrigins }),
    ...(request.answerEcho && { answerEcho: request.answerEcho }),
    ...(request.wantsEncryptedReasoning && { wantsEncryptedReasoning: true }),
    wantsReasoning: request.reasoning?.visible ?? false,
    estimatedInputTokens: size.estimatedInput,
  }
}
