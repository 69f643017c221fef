/** Makes offers to the ledger for a request. After a refusal, the next offer is smaller: with counted tokens, or a lower output limit. */
import { atBatchPrice } from '@/catalog/batch-price'
import { measurePrompt, type Prompt } from '@/catalog/estimate'
import type { ChatRequest } from '@/chat/request'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import { type Allowed, narrower } from '@/ledger/allowed'
import type { Nano } from '@/lib/money'
import type { Soon } from '@/lib/wait/soon'
import type { Plan } from '@/routing/plan/plan'
import type { Session } from '@/routing/plan/session'
import type { Router } from '@/routing/router'
import { affordableCap, exactSize, type HoldSize, quickSize, resize } from './hold-size'
import { type ArrivedRequest, type Asked, askedOf } from './request-facts'
import { Negotiation, type Offer, type TermsDeps } from './terms'

export type NegotiationDeps = TermsDeps & {
  router: Pick<Router, 'plan'>
  signatures: Pick<SignatureStore, 'restore'>
}

export class ChatOffer implements Offer {
  constructor(
    readonly plan: Plan,
    /** The request for the targets: with restored signatures, and the output limit that the credit covers. */
    readonly request: ChatRequest,
    readonly prompt: Prompt,
    readonly size: HoldSize,
    readonly allowed: Allowed,
    /** The output limit that the balance can pay, if the caller set none and the model's own is too expensive. */
    readonly loweredCap: number | undefined = undefined,
    /** Whether `size` comes from an exact token count. */
    private readonly isCounted = false,
  ) {}

  /** The first smaller offer has an exact count. If the caller set no output limit, the next one has the largest limit that can be paid. */
  async shrink(available: Nano, accountId: string): Promise<ChatOffer | undefined> {
    const canLower = this.request.maxOutputTokens === undefined
    const size = this.isCounted ? this.size : await exactSize(this, this.size, accountId)
    if (!this.isCounted && (size.amount <= available || !canLower))
      return size.amount < this.size.amount ? this.of(this.request, size) : undefined
    const cap = canLower ? affordableCap(this, size, available) : undefined
    if (cap === undefined) return undefined
    const request = { ...this.request, maxOutputTokens: cap }
    return this.of(request, resize({ plan: this.plan, prompt: this.prompt, request }, size), cap)
  }

  private of(request: ChatRequest, size: HoldSize, loweredCap?: number): ChatOffer {
    return new ChatOffer(this.plan, request, this.prompt, size, this.allowed, loweredCap, true)
  }
}

export class ChatNegotiation extends Negotiation<ChatOffer> {
  private readonly asked: Asked

  constructor(
    private readonly deps: NegotiationDeps,
    private readonly arrived: ArrivedRequest,
    private readonly session: Session | undefined,
  ) {
    super(deps, arrived.payer)
    this.asked = askedOf(arrived)
  }

  protected offer(allowed: Allowed): Soon<ChatOffer> {
    const { bounds } = this.arrived.payer
    const permitted = bounds ? narrower(allowed, bounds) : allowed
    const origin = { ...permitted, clientFormat: this.arrived.format.name, session: this.session }
    const planning = this.deps.router.plan(this.asked.request, origin)
    if (planning instanceof Promise) return planning.then((plan) => this.offerFor(plan, allowed))
    return this.offerFor(planning, allowed)
  }

  private offerFor(planned: Plan, allowed: Allowed): Soon<ChatOffer> {
    const { asked, arrived } = this
    const plan = arrived.isBatch ? atBatchPrices(planned) : planned
    // A provider of another format may have signed content whose signature the client's format could not keep.
    for (const { target } of plan.targets)
      if (target.provider.format !== arrived.format.name)
        return this.deps.signatures
          .restore(arrived.payer.accountId, asked.request)
          .then((request) => offerOf(asked, request, plan, allowed))
    return offerOf(asked, asked.request, plan, allowed)
  }
}

function atBatchPrices(plan: Plan): Plan {
  const targets = plan.targets.map(({ model, ...planned }) => ({ ...planned, model: atBatchPrice(model) }))
  return { ...plan, targets, models: plan.models.map(atBatchPrice) }
}

/** `request` is the caller's, or a copy with restored parts, which also count as input. */
function offerOf(asked: Asked, request: ChatRequest, plan: Plan, allowed: Allowed): ChatOffer {
  const isAsAsked = request === asked.request
  const prompt = isAsAsked ? plan.requirements.prompt : measurePrompt(request)
  const addedBytes = isAsAsked ? 0 : Math.max(0, bytesOfTurns(request) - bytesOfTurns(asked.request))
  const size = quickSize({ request, prompt, plan }, asked.bodyBytes + addedBytes)
  return new ChatOffer(plan, request, prompt, size, allowed)
}

function bytesOfTurns({ turns }: ChatRequest): number {
  return Buffer.byteLength(JSON.stringify(turns))
}
