/** Tries the targets of a plan until one has given the vectors of all inputs. */
import { type FirstAnswer, firstAnswer } from '@/gateway/attempt/first-answer'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { PlannedAttempts } from '@/gateway/attempt/planned-attempts'
import { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import { assert } from '@/lib/assert'
import type { Permit } from '@/routing/failover/permit'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingOffer, EmbeddingRequestCall } from './embedding-call'

/** Finds them. Where there are none, throws what the first target said. */
export function findVectors(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  offer: EmbeddingOffer,
): Promise<FirstAnswer<Embedded>> {
  const { payer, signal } = call
  const failover = deps.router.begin(offer.plan, { accountId: payer.accountId, stream: false, signal })
  return firstAnswer(deps, failover, signal, new EmbeddingAttempts(deps, call, hold, offer, failover))
}

class EmbeddingAttempts extends PlannedAttempts<Embedded, EmbeddingDeps, EmbeddingRequestCall, EmbeddingOffer> {
  private readonly answered: AnsweredCalls = new Map()

  begin(permit: Permit): OpenAttempt<Embedded> {
    const { deps, call } = this
    const { planned, number } = permit
    const asked = { number, planned, operation: 'embeddings', request: call.request } as const
    const listener = deps.tracing?.attempting(call.requestId, asked)
    const request = { model: call.request.model, stream: false }
    const attempt = this.open(permit, {
      request,
      meter: new Meter(0),
      tools: undefined,
      writesForHour: false,
      listener,
    })
    const { provider, model } = planned.target
    const embeddings = provider.dialect.embeddings?.(model) ?? attempt.providerFormat.embeddings
    assert(embeddings, `no embeddings in ${planned.target.provider.format}`)
    void attemptEmbedding(deps, { call, attempt, embeddings }, this.answered)
    return attempt
  }
}
