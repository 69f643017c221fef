/** Tries the targets of a plan until one has given the vectors of all inputs. */
import { type FirstAnswer, firstAnswer } from '@/gateway/attempt/first-answer'
import { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { Meter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Permit } from '@/routing/failover/permit'
import { routeReason } from '@/routing/route-reason'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingOffer, EmbeddingRequestCall } from './embedding-call'

/** Finds them. Where there are none, throws what the first target said. */
export async function findVectors(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  { plan }: EmbeddingOffer,
): Promise<FirstAnswer<Embedded>> {
  const { payer, signal } = call
  const failover = deps.router.begin(plan, { accountId: payer.accountId, stream: false, signal })
  const reason = () => routeReason(plan, plan.model.id, failover.trail)
  const answered: AnsweredCalls = new Map()
  const found = await firstAnswer(deps, failover, signal, (permit) =>
    beginAttempt(deps, call, hold, permit, reason(), answered),
  )
  if (found.hasOutrun) {
    const { charge } = found.winner
    charge.facts.routeReason = reason()
    renew(deps, charge)
  }
  return found
}

function beginAttempt(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  permit: Permit,
  reason: string,
  answered: AnsweredCalls,
): OpenAttempt<Embedded> {
  const { planned, number } = permit
  const providerFormat = deps.formats.get(planned.target.provider.format)
  const embeddings = providerFormat?.embeddings
  assert(embeddings, `no embeddings in ${planned.target.provider.format}`)
  deps.tracing?.attempting(call.requestId, { number, planned, operation: 'embeddings', request: call.request })
  const charge = openCharge(call, hold, permit, reason)
  renew(deps, charge)
  const attempt = new OpenAttempt<Embedded>(permit, providerFormat, charge, deps.clock.monotonic())
  attempt.follow(attemptEmbedding(deps, { call, attempt, embeddings }, answered))
  return attempt
}

/** From now on the books hear of this attempt, should this process die. */
function renew({ clock }: EmbeddingDeps, charge: OpenCharge): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

function openCharge(call: EmbeddingRequestCall, hold: Hold, { planned, number }: Permit, reason: string): OpenCharge {
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
    line: call.line,
    facts: { ...plannedFacts(call, asked, planned), attempts: number, routeReason: reason },
    arrivedMonotonicMs: call.arrivedMonotonicMs,
  }
}
