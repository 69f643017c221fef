/** Tries the targets of a plan until one has given the vectors of all inputs. */
import { Attempts } from '@/gateway/attempt/first-answer'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { Meter } from '@/gateway/charge/meter'
import { assert } from '@/lib/assert'
import type { Permit } from '@/routing/failover/permit'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingRequestCall } from './embedding-call'
import type { EmbeddingOffer } from './embedding-offer'

/** See {@link Attempts}. */
export class EmbeddingAttempts extends Attempts<Embedded, EmbeddingDeps, EmbeddingRequestCall, EmbeddingOffer> {
  private readonly answered: AnsweredCalls = new Map()

  protected begin(permit: Permit): OpenAttempt<Embedded> {
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
