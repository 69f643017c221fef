import type { Target } from '@/catalog/types'
import { asksForHour } from '@/chat/cache-hints'
import { knownError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { serviceTierOf } from '@/chat/service-tier'
import { CACHE_CONTROL } from '@/formats/body-fields'
import type { AnswerContext } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { attemptTarget, type StartedAnswer } from '@/gateway/attempt/attempt'
import { type Race, raceAttempts } from '@/gateway/attempt/race-attempts'
import type { ToolTerms } from '@/gateway/charge/charge'
import { Meter } from '@/gateway/charge/meter'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { storeClosed } from '@/gateway/hold/denial'
import { type Hold, withHold } from '@/gateway/hold/hold'
import { ChatNegotiation, type ChatOffer } from '@/gateway/hold/negotiation'
import { askedOf } from '@/gateway/hold/request-facts'
import { waitingHeaders } from '@/gateway/relay/headers'
import { answerLate } from '@/gateway/relay/late-stream'
import { relay } from '@/gateway/relay/relay'
import { RelayedAnswer } from '@/gateway/relay/relayed'
import { withDeadline } from '@/lib/deadline'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import type { Session } from '@/routing/plan/session'
import type { ChatCall, ChatDeps } from './chat-call'

/** Handles a chat request: plan, reserve, answer, relay, settle. If no answer could begin, releases the hold and throws a GatewayError. */
export function handleChat(deps: ChatDeps, call: ChatCall): Promise<Response> {
  if (deps.storeWatch.isClosedTo(call.payer.accountId)) throw storeClosed()
  const session = deps.router.sessionOf(askedOf(call).request, call.payer.accountId, call.sessionName)
  return withHold(deps, call, new ChatNegotiation(deps, call, session), (hold, offer) => {
    const answering = answer(deps, call, hold, offer, session)
    return call.wantsStream ? unlessLate(deps, call, hold, offer, answering) : answering
  })
}

/** Calls targets one after another, or in parallel, and relays the first answer. Its end settles the hold. */
async function answer(deps: ChatDeps, call: ChatCall, hold: Hold, offer: ChatOffer, session?: Session) {
  const { plan, loweredCap } = offer
  const { attempt, started, upstreamMs } = await raceAttempts<StartedAnswer>({
    deps,
    call,
    hold,
    plan,
    failover: beginFailover(deps, call, offer),
    begin: (permit, race) => begin(deps, call, offer, permit, race),
  })
  const { charge, permit } = attempt
  const { model } = charge.facts
  if (started.kind !== 'abandoned') {
    deps.router.remember(plan, model, session)
    charge.onObservedEnd = observe(deps, call, charge, plan.requestedId, session)
  }
  const context = contextOf(call, offer, model)
  const mayReason = mayHaveReasoned(offer.request, permit)
  call.asked = undefined
  return relay(started, new RelayedAnswer(deps, call, attempt, { context, mayReason, upstreamMs, loweredCap }))
}

function begin(
  deps: ChatDeps,
  call: ChatCall,
  { request, size }: ChatOffer,
  permit: Permit,
  race: Race<StartedAnswer>,
) {
  const { planned, number } = permit
  const { target } = planned
  const listener = deps.tracing?.attempting(call.requestId, { number, planned, operation: 'chat', request })
  const attempt = race.open(permit, {
    request,
    meter: new Meter(size.bounds.outputTokens, listener?.content),
    listener,
    tools: request.serverTools && termsOf(request.serverTools, target),
    writesForHour: takesHints(target) && asksForHour(request),
    serviceTier: serviceTierOf(request.serviceTier),
  })
  void attemptTarget(deps, call, request, attempt)
}

async function unlessLate(deps: ChatDeps, call: ChatCall, hold: Hold, offer: ChatOffer, answering: Promise<Response>) {
  const early = await withDeadline(answering, deps.lateAfterMs, () => undefined)
  return early ?? answerMeanwhile(deps, call, hold, offer, answering)
}

function beginFailover(deps: ChatDeps, call: ChatCall, { plan, request }: ChatOffer): Failover {
  const { accountId } = call.payer
  const conversation = () => deps.router.conversationOf(request, accountId, call.sessionName)
  return deps.router.begin(plan, { accountId, conversation, stream: request.stream, signal: call.signal })
}

function observe({ observer }: ChatDeps, call: ChatCall, { facts }: OpenCharge, tier: string, session?: Session) {
  const { requestId, model } = facts
  const turns = askedOf(call).request.turns.length
  return observer.answered({ requestId, tier, model, session: session?.to, turns, arrivedMs: call.arrivedMonotonicMs })
}

/** Answers with a stream that sends keep-alives until the answer begins. From now on, the stream owns the hold. */
function answerMeanwhile(deps: ChatDeps, call: ChatCall, hold: Hold, offer: ChatOffer, answering: Promise<Response>) {
  hold.handOver()
  return answerLate(deps, {
    client: call,
    context: contextOf(call, offer, offer.plan.models[0]?.id ?? offer.request.model),
    headers: waitingHeaders(deps.clock, call.format, { hold, requestId: call.requestId }, offer.loweredCap),
    answering,
    async onFailure(error) {
      await hold.release()
      call.onLateFailure(error)
      return knownError(error)
    },
  })
}

/** Whether the model may reason for this request: models that can reason do so by default. */
function mayHaveReasoned({ reasoning }: ChatRequest, { planned }: Permit): boolean {
  if (reasoning?.effort === 'none' || reasoning?.budgetTokens === 0) return false
  return reasoning !== undefined || planned.model.capabilities.has('reasoning')
}

function contextOf({ requestId, arrivedAtMs }: ChatCall, { request, size }: ChatOffer, model: string): AnswerContext {
  return {
    id: requestId,
    model,
    created: Math.floor(arrivedAtMs / 1000),
    wantsUsage: request.wantsUsage,
    wantsCost: request.wantsCost,
    forOpenRouter: request.forOpenRouter,
    wantsFunctionCall: request.wantsFunctionCall,
    answerField: request.answerField,
    toolOrigins: request.toolOrigins,
    answerEcho: request.answerEcho,
    wantsEncryptedReasoning: request.wantsEncryptedReasoning,
    wantsReasoning: request.reasoning?.visible ?? false,
    estimatedInputTokens: size.estimatedInput,
  }
}

/** Whether the target supports cache hints. */
function takesHints({ quirks, provider }: Target): boolean {
  const lacking = FORMATS.get(provider.format)?.requestFields.lacking
  return quirks.has(CACHE_CONTROL) || lacking?.includes('cacheHints') === false
}

function termsOf(tools: readonly ServerTool[], { toolPrices }: Target): ToolTerms[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...byName.values()].flatMap(({ name, unsaidUses }) => {
    const terms = toolPrices?.get(name)
    return terms ? [{ name, unsaidUses, price: terms.price, cost: terms.cost, per: terms.per }] : []
  })
}
