/** Tries the targets of a plan until one has given the vectors of all inputs. */
import { type AttemptHandle, createAttemptHandle } from '@/gateway/attempt/attempt'
import { firstAnswer } from '@/gateway/attempt/first-answer'
import { type Entrant, endOthers, enter } from '@/gateway/attempt/race'
import { createMeter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import { plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import { routeReason } from '@/routing/route-reason'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingOffer, EmbeddingRequestCall } from './embedding-call'

/** The vectors that were found, at which attempt, and the charge that goes on with them. */
export type FoundVectors = {
  embedded: Embedded
  permit: Permit
  charge: OpenCharge
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
}

/** Finds them. Where there are none, throws what the first target said. */
export async function findVectors(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  { plan }: EmbeddingOffer,
): Promise<FoundVectors> {
  const { payer, signal } = call
  const failover = deps.router.begin(plan, { accountId: payer.accountId, stream: false, signal })
  const answered: AnsweredCalls = new Map()
  const begin = (permit: Permit) => beginAttempt(deps, call, hold, plan, failover, permit, answered)
  const { winner, started, entrants, upstreamMs } = await firstAnswer(deps, failover, begin)
  const { permit, charge } = winner
  if (entrants.length > 1) {
    endOthers(entrants, winner, failover, !signal.aborted, deps)
    charge.facts.routeReason = routeReason(plan, plan.model.id, failover.trail)
    deps.keeper.forget(call.requestId)
    renew(deps, charge)
  }
  return { embedded: started, permit, charge, upstreamMs }
}

function beginAttempt(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  plan: EmbeddingOffer['plan'],
  failover: Failover,
  permit: Permit,
  answered: AnsweredCalls,
): Entrant<Embedded> {
  const { provider } = permit.planned.target
  const providerFormat = deps.formats.get(provider.format)
  const embeddings = providerFormat?.embeddings
  assert(embeddings, `no embeddings in ${provider.format}`)
  deps.tracing?.attempting(call.requestId, {
    ...{ number: permit.number, planned: permit.planned, operation: 'embeddings', request: call.request },
  })
  const charge = openCharge(call, hold, permit, routeReason(plan, plan.model.id, failover.trail))
  renew(deps, charge)
  const handle: AttemptHandle = createAttemptHandle()
  const onProgress = () => {
    entrant.sinceMs = deps.clock.monotonic()
  }
  const running = attemptEmbedding(deps, { call, permit, providerFormat, embeddings, answered, handle, onProgress })
  const sinceMs = deps.clock.monotonic()
  const entrant = enter({ permit, providerFormat, charge, handle, sinceMs, discard: () => undefined }, running)
  return entrant
}

/** From now on the books hear of this attempt, should this process die. */
function renew({ clock }: EmbeddingDeps, charge: OpenCharge): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

function openCharge(call: EmbeddingRequestCall, hold: Hold, { planned, number }: Permit, reason: string): OpenCharge {
  call.line.attempt = { model: planned.model.id, provider: planned.target.provider.name, attempts: number }
  const arrived = { ...call, request: { model: call.request.model, stream: false } }
  return {
    payer: call.payer,
    hold,
    pricing: planned.model.pricing,
    cost: planned.target.cost,
    tools: undefined,
    writesForHour: false,
    meter: createMeter(0),
    line: call.line,
    facts: { ...plannedFacts(arrived, planned), attempts: number, routeReason: reason },
    arrivedMonotonicMs: call.arrivedMonotonicMs,
  }
}
