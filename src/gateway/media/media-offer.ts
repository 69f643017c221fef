/** Turns a request that is no conversation into an offer to the ledger: the most that it can cost at the named model. */
import { boundOfInputs } from '@/catalog/embedding-size'
import { requestCost, worstCaseCost } from '@/catalog/price'
import type { UnitCount } from '@/chat/units'
import { ZERO_USAGE } from '@/chat/usage'
import type { MediaRequest } from '@/formats/media-call'
import type { HoldSize } from '@/gateway/hold/hold-size'
import { Negotiation, type Offer, type TermsDeps } from '@/gateway/hold/terms'
import type { Allowed } from '@/ledger/allowed'
import { MAX_NANO, nano } from '@/lib/money'
import type { MediaPlan } from '@/routing/plan/plan-media'
import type { Router } from '@/routing/router'
import type { MediaRequestCall } from './media-call'

export class MediaOffer implements Offer {
  readonly size: HoldSize

  constructor(
    readonly plan: MediaPlan,
    readonly allowed: Allowed,
    { request }: Pick<MediaRequestCall, 'request'>,
  ) {
    const { model, sizes } = plan
    const { inputTokens: { most = 0, likely = 0 } = {}, answers = 1, outputTokensAre: billable } = request
    const outputTokens = model.maxOutputTokens * answers
    const outputs: UnitCount[] = billable ? [{ billable, unit: 'token', count: outputTokens }] : []
    const units = [...request.most, ...outputs]
    const bounds = { inputTokens: boundOfInputs(sizes) + most, outputTokens, units }
    const estimatedInput = sizes.estimatedTokens + likely
    const worst = worstCaseCost(model.pricing, bounds.inputTokens, bounds.outputTokens, undefined, units)
    const amount = Math.min(worst, MAX_NANO)
    const least = requestCost(model.pricing, { ...ZERO_USAGE, uncached: estimatedInput, units: likelyUnits(request) })
    const inputCost = nano(Math.min(least, amount))
    this.size = { amount: nano(amount), inputCost, bounds, rateTokens: estimatedInput, estimatedInput }
  }

  /** Returns no smaller offer, because there is no closer bound of the cost. */
  shrink(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
}

/** The units charged if the provider states no usage. */
export function likelyUnits({ most, likely }: MediaRequest): readonly UnitCount[] {
  return likely ?? most.filter(({ billable }) => !billable.startsWith('output'))
}

export class MediaNegotiation extends Negotiation<MediaOffer> {
  constructor(
    private readonly deps: TermsDeps & { router: Pick<Router, 'planMedia'> },
    private readonly call: MediaRequestCall,
  ) {
    super(deps, call.payer)
  }

  protected offer(allowed: Allowed): MediaOffer {
    return new MediaOffer(this.deps.router.planMedia(this.call.kind, this.call.request, allowed), allowed, this.call)
  }
}
