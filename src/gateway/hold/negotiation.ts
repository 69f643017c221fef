/**
 * Turns a request of a conversation into an offer to the ledger, and a refused offer into the next one: counted exactly, or with a
 * lower output limit, where the credit, or the key's budget, does not suffice.
 */
import { measurePrompt } from '@/catalog/estimate'
import type { ChatRequest } from '@/chat/request'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import type { AllowedModels } from '@/ledger/allowed-models'
import type { Nano } from '@/lib/money'
import { type Soon, whenThere } from '@/lib/wait/soon'
import type { Plan } from '@/routing/plan/plan'
import type { Session } from '@/routing/plan/session'
import type { Router } from '@/routing/router'
import { affordableCap, exactSize, type HoldSize, quickSize, resize, type Sized } from './hold-size'
import { type ArrivedRequest, type Asked, askedOf } from './request-facts'
import { type Draft, type Negotiation, negotiateTerms, type Terms, type TermsDeps } from './terms'

export type NegotiationDeps = TermsDeps & {
  router: Pick<Router, 'plan'>
  signatures: Pick<SignatureStore, 'restore'>
}

/** What the ledger is asked to reserve; of the offer that it takes, the terms on which the request goes on. */
export type Offer = Terms & {
  plan: Plan
  /** What the targets are asked: with the signatures that the client could not keep, and the cap that its credit pays. */
  request: ChatRequest
  /** The output cap that the balance can pay, where the caller set none and the model's own is too dear. */
  loweredCap: number | undefined
}

/** Plans the request and makes the first offer for it. Throws where no model may or can serve it. */
export function negotiate(
  deps: NegotiationDeps,
  arrived: ArrivedRequest,
  session: Session | undefined,
): Soon<Negotiation<Offer>> {
  const asked = askedOf(arrived)
  return negotiateTerms(deps, arrived.payer, (allowedModels) => draftFor(deps, arrived, asked, session, allowedModels))
}

/** The first offer for a plan, and the size it has been shrunk to since. */
type Shrinking = { accountId: string; offer: Offer; sized: Sized; size: HoldSize; step: 'quick' | 'exact' | 'lowered' }

function draftFor(
  deps: NegotiationDeps,
  { payer, format }: ArrivedRequest,
  asked: Asked,
  session: Session | undefined,
  allowedModels: AllowedModels,
): Soon<Draft<Offer>> {
  const { accountId } = payer
  const planning = deps.router.plan(asked.request, { clientFormat: format.name, session, allowedModels })
  return whenThere(planning, (plan) => {
    // A provider of another format than the client's may have signed what the client could not keep.
    const isOwn = plan.targets.every(({ target }) => target.provider.format === format.name)
    if (isOwn) return draftOf(accountId, asked, asked.request, plan, allowedModels)
    const restoring = deps.signatures.restore(accountId, asked.request)
    return restoring.then((request) => draftOf(accountId, asked, request, plan, allowedModels))
  })
}

/** `request` is the one that was asked, or that one with what was put back into it, which the model reads as well. */
function draftOf(
  accountId: string,
  asked: Asked,
  request: ChatRequest,
  plan: Plan,
  allowedModels: AllowedModels,
): Draft<Offer> {
  const { models, targets, requirements } = plan
  const isAsAsked = request === asked.request
  const sized = { request, prompt: isAsAsked ? requirements.prompt : measurePrompt(request), models, targets }
  const addedBytes = isAsAsked ? 0 : Math.max(0, bytesOfTurns(request) - bytesOfTurns(asked.request))
  const size = quickSize(sized, asked.bodyBytes + addedBytes)
  const offer = { plan, request, loweredCap: undefined, size, allowedModels }
  const shrinking: Shrinking = { accountId, offer, sized, size, step: 'quick' }
  return { offer, shrink: (available) => shrink(shrinking, available) }
}

function bytesOfTurns({ turns }: ChatRequest): number {
  return Buffer.byteLength(JSON.stringify(turns))
}

/**
 * What to offer when balance or budget refuses a size: first an exact count instead of the cheap bound; then, where the caller set
 * no output limit, the largest one that they pay.
 */
async function shrink(draft: Shrinking, available: Nano): Promise<Offer | undefined> {
  const { offer, sized } = draft
  const canLower = sized.request.maxOutputTokens === undefined
  if (draft.step === 'quick') {
    draft.step = 'exact'
    draft.size = await exactSize(sized, offer.size, draft.accountId)
    const isWorthwhile = draft.size.amount < offer.size.amount
    if (draft.size.amount <= available || !canLower) return isWorthwhile ? { ...offer, size: draft.size } : undefined
  }
  if (draft.step !== 'exact' || !canLower) return undefined
  draft.step = 'lowered'
  const cap = affordableCap(sized, draft.size, available)
  if (cap === undefined) return undefined
  const request = { ...sized.request, maxOutputTokens: cap }
  return { ...offer, request, loweredCap: cap, size: resize({ ...sized, request }, draft.size) }
}
