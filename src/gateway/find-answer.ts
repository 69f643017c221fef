/** Tries the targets of a plan, one after another or beside one another, until one answers. */
import type { Target } from '@/catalog/types'
import { asksForHour } from '@/chat/cache-hints'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { CACHE_CONTROL } from '@/formats/body-fields'
import { attemptTarget, type StartedAnswer } from '@/gateway/attempt/attempt'
import { type Attempts, type FirstAnswer, firstAnswer } from '@/gateway/attempt/first-answer'
import { OpenAttempt } from '@/gateway/attempt/open-attempt'
import type { ToolTerms } from '@/gateway/charge/charge'
import { Meter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import type { Offer } from '@/gateway/hold/negotiation'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import { routeReason } from '@/routing/route-reason'
import type { ChatCall, ChatDeps } from './chat-call'

/** Finds the first answer. Where there is none, throws what the first target said. */
export function findAnswer(
  deps: ChatDeps,
  call: ChatCall,
  hold: Hold,
  offer: Offer,
): Promise<FirstAnswer<StartedAnswer>> {
  const { payer, signal, sessionName } = call
  const { accountId } = payer
  const { plan, request } = offer
  const conversation = () => deps.router.conversationOf(request, accountId, sessionName)
  const failover = deps.router.begin(plan, { accountId, conversation, stream: request.stream, signal })
  return firstAnswer(deps, failover, signal, new ChatAttempts(deps, call, hold, offer, failover))
}

class ChatAttempts implements Attempts<StartedAnswer> {
  constructor(
    private readonly deps: ChatDeps,
    private readonly call: ChatCall,
    private readonly hold: Hold,
    private readonly offer: Offer,
    private readonly failover: Failover,
  ) {}

  begin(permit: Permit): OpenAttempt<StartedAnswer> {
    const { deps, call, hold } = this
    const { request } = this.offer
    const { planned, number } = permit
    const providerFormat = deps.formats.get(planned.target.provider.format)
    assert(providerFormat, `no codec for ${planned.target.provider.format}`)
    deps.tracing?.attempting(call.requestId, { number, planned, operation: 'chat', request })
    const charge = openCharge(deps, call, hold, permit, { reason: this.reasonFor(permit), request })
    const attempt = new OpenAttempt<StartedAnswer>(permit, providerFormat, charge, deps.clock.monotonic())
    void attemptTarget(deps, call, request, attempt)
    return attempt
  }

  outran({ charge, permit }: OpenAttempt<StartedAnswer>): void {
    charge.facts.routeReason = this.reasonFor(permit)
    keepRenewed(charge, this.deps.clock)
  }

  private reasonFor({ planned }: Permit): string {
    return routeReason(this.offer.plan, planned.model.id, this.failover.trail)
  }
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
    meter: new Meter(hold.size.bounds.outputTokens, tracing?.listenerFor(call.requestId, attempts)),
    facts: { ...plannedFacts(call, request, planned), attempts, routeReason: reason },
    permit,
    onSettled: call.onSettled,
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
