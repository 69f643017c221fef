/** Turns an embeddings request into an offer to the ledger: the maximum cost of its inputs, or less after counting their tokens. */
import { atBatchPrice } from '@/catalog/batch-price'
import { boundOfInputs, countedBoundOfInputs } from '@/catalog/embedding-size'
import { inputCost, worstCaseCost } from '@/catalog/price'
import type { HoldSize } from '@/gateway/hold/hold-size'
import { Negotiation, type Offer, type TermsDeps } from '@/gateway/hold/terms'
import type { Allowed } from '@/ledger/allowed'
import { MAX_NANO, type Nano, nano } from '@/lib/money'
import type { EmbeddingPlan } from '@/routing/plan/plan-embedding'
import type { Router } from '@/routing/router'
import type { EmbeddingRequestCall } from './embedding-call'

export class EmbeddingOffer implements Offer {
  constructor(
    readonly plan: EmbeddingPlan,
    readonly allowed: Allowed,
    readonly size = sizeOf(plan, boundOfInputs(plan.sizes)),
    private readonly isCounted = false,
  ) {}

  async shrink(_available: Nano, accountId: string): Promise<EmbeddingOffer | undefined> {
    if (this.isCounted) return undefined
    const { plan, allowed } = this
    const size = sizeOf(plan, await countedBoundOfInputs(plan.sizes, plan.model, accountId))
    if (size.amount >= this.size.amount) return undefined
    // This size is a close estimate. If the provider counts more, its count is accepted as far as the hold pays for it.
    const beyond = { inputTokens: this.size.bounds.inputTokens, cost: size.amount }
    return new EmbeddingOffer(plan, allowed, { ...size, bounds: { ...size.bounds, beyond } }, true)
  }
}

export class EmbeddingNegotiation extends Negotiation<EmbeddingOffer> {
  constructor(
    private readonly deps: TermsDeps & { router: Pick<Router, 'planEmbedding'> },
    private readonly call: EmbeddingRequestCall,
  ) {
    super(deps, call.payer)
  }

  protected offer(allowed: Allowed): EmbeddingOffer {
    const plan = this.deps.router.planEmbedding(this.call.request, allowed)
    return new EmbeddingOffer(this.call.isBatch ? atBatchPrices(plan) : plan, allowed)
  }
}

function atBatchPrices(plan: EmbeddingPlan): EmbeddingPlan {
  const model = atBatchPrice(plan.model)
  return { ...plan, model, models: [model], targets: plan.targets.map(({ target }) => ({ model, target })) }
}

/** Only the inputs cost: embeddings have no output tokens. */
function sizeOf({ model: { pricing }, sizes: { estimatedTokens } }: EmbeddingPlan, inputTokens: number): HoldSize {
  const amount = Math.min(worstCaseCost(pricing, inputTokens, 0), MAX_NANO)
  const leastCost = Math.min(inputCost(pricing, Math.min(estimatedTokens, inputTokens)), amount)
  return {
    amount: nano(amount),
    inputCost: nano(leastCost),
    bounds: { inputTokens, outputTokens: 0 },
    rateTokens: estimatedTokens,
    estimatedInput: estimatedTokens,
  }
}
