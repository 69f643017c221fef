/** Tries the targets of a plan, one after another or beside one another, until one answers. */
import type { Target } from '@/catalog/types'
import { asksForHour } from '@/chat/cache-hints'
import type { ServerTool } from '@/chat/server-tools'
import { CACHE_CONTROL } from '@/formats/body-fields'
import { attemptTarget, type StartedAnswer } from '@/gateway/attempt/attempt'
import { type FirstAnswer, firstAnswer } from '@/gateway/attempt/first-answer'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { PlannedAttempts } from '@/gateway/attempt/planned-attempts'
import type { ToolTerms } from '@/gateway/charge/charge'
import { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import type { Offer } from '@/gateway/hold/negotiation'
import type { Permit } from '@/routing/failover/permit'
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

class ChatAttempts extends PlannedAttempts<StartedAnswer, ChatDeps, ChatCall, Offer> {
  begin(permit: Permit): OpenAttempt<StartedAnswer> {
    const { deps, call } = this
    const { request } = this.offer
    const { planned, number } = permit
    const { target } = planned
    deps.tracing?.attempting(call.requestId, { number, planned, operation: 'chat', request })
    const attempt = this.open(permit, {
      request,
      meter: new Meter(this.hold.size.bounds.outputTokens, deps.tracing?.listenerFor(call.requestId, number)),
      tools: request.serverTools && termsOf(request.serverTools, target),
      writesForHour: target.quirks.has(CACHE_CONTROL) && asksForHour(request),
    })
    void attemptTarget(deps, call, request, attempt)
    return attempt
  }
}

function termsOf(tools: readonly ServerTool[], { toolPrices }: Target): ToolTerms[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...byName.values()].flatMap(({ name, unsaidUses }) => {
    const terms = toolPrices?.get(name)
    return terms ? [{ name, unsaidUses, price: terms.price, cost: terms.cost, per: terms.per }] : []
  })
}
