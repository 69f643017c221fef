/** Turns a request for embeddings into an offer to the ledger: the most that its inputs can cost, and less where they are counted. */
import { boundOfInputs, countedBoundOfInputs } from '@/catalog/embedding-size'
import { inputCost, worstCaseCost } from '@/catalog/price'
import type { HoldSize } from '@/gateway/hold/hold-size'
import { type Negotiation, negotiateTerms, type TermsDeps } from '@/gateway/hold/terms'
import { MAX_NANO, nano } from '@/lib/money'
import type { Soon } from '@/lib/wait/soon'
import type { EmbeddingPlan } from '@/routing/plan/plan-embedding'
import type { Router } from '@/routing/router'
import type { EmbeddingOffer, EmbeddingRequestCall } from './embedding-call'

/** Plans the request and makes the first offer for it. Throws where the model may or can not serve it. */
export function negotiateEmbedding(
  deps: TermsDeps & { router: Pick<Router, 'planEmbedding'> },
  { payer, request }: EmbeddingRequestCall,
): Soon<Negotiation<EmbeddingOffer>> {
  return negotiateTerms(deps, payer, (allowedModels) => {
    const plan = deps.router.planEmbedding(request, allowedModels)
    const offer = { plan, allowedModels, size: sizeOf(plan, boundOfInputs(plan.sizes)) }
    let isCounted = false
    return {
      offer,
      async shrink() {
        if (isCounted) return undefined
        isCounted = true
        const size = sizeOf(plan, await countedBoundOfInputs(plan.sizes, plan.model, payer.accountId))
        if (size.amount >= offer.size.amount) return undefined
        // A close estimate: what it leaves out is believed as far as the hold pays for it.
        const beyond = { inputTokens: offer.size.bounds.inputTokens, cost: size.amount }
        return { ...offer, size: { ...size, bounds: { ...size.bounds, beyond } } }
      },
    }
  })
}

/** Nothing is written, so the inputs are all that costs. */
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
