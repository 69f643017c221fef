/** Tries the targets of a plan until one has given the vectors of all inputs, and tells them. */
import { Attempts } from '@/gateway/attempt/first-answer'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import { assert } from '@/lib/assert'
import type { Permit } from '@/routing/failover/permit'
import type { Room } from './answer-room'
import { type AnsweredCalls, attemptEmbedding, type Embedded } from './attempt-embedding'
import type { EmbeddingDeps, EmbeddingRequestCall } from './embedding-call'
import type { EmbeddingOffer } from './embedding-offer'
import { tellVectors } from './tell-vectors'

/** See {@link Attempts}. */
export class EmbeddingAttempts extends Attempts<Embedded, EmbeddingDeps, EmbeddingRequestCall, EmbeddingOffer> {
  private readonly answered: AnsweredCalls = new Map()

  constructor(
    deps: EmbeddingDeps,
    call: EmbeddingRequestCall,
    hold: Hold,
    offer: EmbeddingOffer,
    private readonly room: Room,
  ) {
    const { accountId } = call.payer
    super(deps, call, hold, offer, deps.router.begin(offer.plan, { accountId, stream: false, signal: call.signal }))
  }

  protected tell(winner: OpenAttempt<Embedded>): Promise<Response> {
    const { deps, call, offer, room, upstreamMs } = this
    return tellVectors(deps, call, offer, { winner, upstreamMs, room })
  }

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
