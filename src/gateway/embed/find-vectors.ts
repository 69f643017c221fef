/** Tries the targets of a plan until one has given the vectors of all inputs. */
import { type Attempts, type FirstAnswer, firstAnswer } from '@/gateway/attempt/first-answer'
import { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { Meter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import type { EmbeddingPlan } from '@/routing/plan/plan-embedding'
import { routeReason } from '@/routing/route-reason'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingOffer, EmbeddingRequestCall } from './embedding-call'

/** Finds them. Where there are none, throws what the first target said. */
export function findVectors(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  { plan }: EmbeddingOffer,
): Promise<FirstAnswer<Embedded>> {
  const { payer, signal } = call
  const failover = deps.router.begin(plan, { accountId: payer.accountId, stream: false, signal })
  return firstAnswer(deps, failover, signal, new EmbeddingAttempts(deps, call, hold, plan, failover))
}

class EmbeddingAttempts implements Attempts<Embedded> {
  private readonly answered: AnsweredCalls = new Map()

  constructor(
    private readonly deps: EmbeddingDeps,
    private readonly call: EmbeddingRequestCall,
    private readonly hold: Hold,
    private readonly plan: EmbeddingPlan,
    private readonly failover: Failover,
  ) {}

  begin(permit: Permit): OpenAttempt<Embedded> {
    const { deps, call } = this
    const { planned, number } = permit
    const providerFormat = deps.formats.get(planned.target.provider.format)
    const embeddings = providerFormat?.embeddings
    assert(embeddings, `no embeddings in ${planned.target.provider.format}`)
    deps.tracing?.attempting(call.requestId, { number, planned, operation: 'embeddings', request: call.request })
    const charge = openCharge(call, this.hold, permit, this.reason())
    renew(deps, charge)
    const attempt = new OpenAttempt<Embedded>(permit, providerFormat, charge, deps.clock.monotonic())
    void attemptEmbedding(deps, { call, attempt, embeddings }, this.answered)
    return attempt
  }

  outran({ charge }: OpenAttempt<Embedded>): void {
    charge.facts.routeReason = this.reason()
    renew(this.deps, charge)
  }

  private reason(): string {
    return routeReason(this.plan, this.plan.model.id, this.failover.trail)
  }
}

/** From now on the books hear of this attempt, should this process die. */
function renew({ clock }: EmbeddingDeps, charge: OpenCharge): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

function openCharge(call: EmbeddingRequestCall, hold: Hold, permit: Permit, reason: string): OpenCharge {
  const { planned, number } = permit
  call.line.attempt = { model: planned.model.id, provider: planned.target.provider.name, attempts: number }
  const asked = { model: call.request.model, stream: false }
  return {
    payer: call.payer,
    hold,
    pricing: planned.model.pricing,
    cost: planned.target.cost,
    tools: undefined,
    writesForHour: false,
    meter: new Meter(0),
    permit,
    onSettled: call.onSettled,
    line: call.line,
    facts: { ...plannedFacts(call, asked, planned), attempts: number, routeReason: reason },
    arrivedMonotonicMs: call.arrivedMonotonicMs,
  }
}
