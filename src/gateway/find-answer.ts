/** Tries the targets of a plan, one after another or beside one another, until one answers. */
import type { Target } from '@/catalog/types'
import { asksForHour } from '@/chat/cache-hints'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { CACHE_CONTROL } from '@/formats/body-fields'
import type { Format } from '@/formats/format'
import { attemptTarget, createAttemptHandle, type StartedAnswer } from '@/gateway/attempt/attempt'
import { firstAnswer } from '@/gateway/attempt/first-answer'
import { type Entrant, endOthers, enter } from '@/gateway/attempt/race'
import { createMeter } from '@/gateway/charge/meter'
import { tapMeter } from '@/gateway/charge/meter-tap'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { ToolTerms } from '@/gateway/charge/tool-charges'
import type { Hold } from '@/gateway/hold/hold'
import type { Offer } from '@/gateway/hold/negotiation'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import { routeReason } from '@/routing/route-reason'
import type { ChatCall, ChatDeps } from './chat-call'

/** The answer that was found: what has begun of it, at which attempt, in whose words, and the charge that goes on with it. */
export type FoundAnswer = {
  started: StartedAnswer
  permit: Permit
  providerFormat: Format
  charge: OpenCharge
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
  /** Fields of the caller's body that the target was not sent. */
  leftOut: readonly string[]
}

/** Finds the first answer. Where there is none, throws what the first target said. */
export async function findAnswer(deps: ChatDeps, call: ChatCall, hold: Hold, offer: Offer): Promise<FoundAnswer> {
  const { plan, request } = offer
  const { payer, signal, sessionName } = call
  const { accountId } = payer
  const conversation = () => deps.router.conversationOf(request, accountId, sessionName)
  const failover = deps.router.begin(plan, { accountId, conversation, stream: request.stream, signal })
  const begin = (permit: Permit) => beginAttempt(deps, call, hold, offer, failover, permit)
  const { winner, started, entrants, upstreamMs } = await firstAnswer(deps, failover, begin)
  if (entrants.length > 1) decideRace(deps, call, offer, failover, entrants, winner)
  const { permit, providerFormat, charge, handle } = winner
  return { started, permit, providerFormat, charge, upstreamMs, leftOut: handle.leftOut }
}

function beginAttempt(
  deps: ChatDeps,
  call: ChatCall,
  hold: Hold,
  { plan, request }: Offer,
  failover: Failover,
  permit: Permit,
): Entrant<StartedAnswer> {
  const { model, target } = permit.planned
  const providerFormat = deps.formats.get(target.provider.format)
  assert(providerFormat, `no codec for ${target.provider.format}`)
  deps.tracing?.attempting(call.requestId, {
    ...{ number: permit.number, planned: permit.planned, operation: 'chat', request },
  })
  const charge = openCharge(deps, call, hold, permit, { reason: routeReason(plan, model.id, failover.trail), request })
  const handle = createAttemptHandle()
  const { requestId, payer, format: clientFormat, body, bodyBytes, signal } = call
  const running = attemptTarget(deps, {
    ...{ requestId, accountId: payer.accountId, permit, clientFormat, providerFormat, request, body, signal, handle },
    bodyBytes,
    meter: charge.meter,
  })
  return enter({ permit, providerFormat, charge, handle, sinceMs: deps.clock.monotonic(), discard }, running)
}

/** What came in the same moment as the winner's content. */
function discard(started: StartedAnswer): void {
  if (started.kind === 'stream') started.source.abort()
}

/** Ends the other calls, and says of the winner what is known of them now. */
function decideRace(
  deps: ChatDeps,
  { signal }: ChatCall,
  { plan }: Offer,
  failover: Failover,
  entrants: readonly Entrant<StartedAnswer>[],
  winner: Entrant<StartedAnswer>,
): void {
  endOthers(entrants, winner, failover, !signal.aborted, deps)
  const { charge, permit } = winner
  charge.facts.routeReason = routeReason(plan, permit.planned.model.id, failover.trail)
  keepRenewed(charge, deps.clock)
}

/** From now on the books hear of this attempt, should this process die. */
function openCharge(
  { clock, tracing }: ChatDeps,
  call: ChatCall,
  hold: Hold,
  permit: Permit,
  { reason, request }: { reason: string; request: ChatRequest },
): OpenCharge {
  const { planned, number: attempts } = permit
  call.line.attempt = { model: planned.model.id, provider: planned.target.provider.name, attempts }
  const charge = {
    payer: call.payer,
    hold,
    pricing: planned.model.pricing,
    cost: planned.target.cost,
    tools: request.serverTools && termsOf(request.serverTools, planned.target),
    writesForHour: planned.target.quirks.has(CACHE_CONTROL) && asksForHour(request),
    meter: tapMeter(createMeter(hold.size.bounds.outputTokens), tracing?.listenerFor(call.requestId, attempts)),
    facts: { ...plannedFacts(call, planned), attempts, routeReason: reason },
    line: call.line,
    arrivedMonotonicMs: call.arrivedMonotonicMs,
  }
  keepRenewed(charge, clock)
  return charge
}

function termsOf(tools: readonly ServerTool[], { toolPrices }: Target): ToolTerms[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...byName.values()].flatMap(({ name, unsaidUses }) => {
    const terms = toolPrices?.get(name)
    return terms ? [{ name, unsaidUses, price: terms.price, cost: terms.cost, per: terms.per }] : []
  })
}

/** Alone in a function, so that the renewal keeps the charge and nothing else of what its caller has. */
function keepRenewed(charge: OpenCharge, clock: Clock): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}
