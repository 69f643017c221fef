/**
 * Turns a request into an offer to the ledger, and a refused offer into the next one: planned again where the key may call
 * other models than this process believed, counted exactly or with a lower output limit where the credit, or the key's budget, does not suffice.
 */
import { measurePrompt } from '@/catalog/estimate'
import type { ChatRequest } from '@/chat/request'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import { type AllowedModels, allowedModelsText } from '@/ledger/allowed-models'
import type { Ledger } from '@/ledger/ledger'
import type { ReserveOutcome } from '@/ledger/outcomes'
import { type Nano, nano } from '@/lib/money'
import type { Plan } from '@/routing/plan/plan'
import type { Session } from '@/routing/plan/session'
import type { Router } from '@/routing/router'
import { affordableCap, exactSize, type HoldSize, quickSize, resize, type Sized } from './hold-size'
import type { KeyPermissions } from './key-permissions'
import type { ArrivedRequest } from './request-facts'

export type NegotiationDeps = {
  router: Pick<Router, 'plan'>
  ledger: Pick<Ledger, 'readKey'>
  permissions: KeyPermissions
  signatures: Pick<SignatureStore, 'restore'>
}

/** What the ledger is asked to reserve; of the offer that it takes, the terms on which the request goes on. */
export type Offer = {
  plan: Plan
  /** What the targets are asked: with the signatures that the client could not keep, and the cap that its credit pays. */
  request: ChatRequest
  /** The output cap that the balance can pay, where the caller set none and the model's own is too dear. */
  loweredCap: number | undefined
  size: HoldSize
  /** The models that the request was planned with. */
  allowedModels: AllowedModels
}

/** A refusal that another offer may turn into a hold. */
export type Refusal = Extract<ReserveOutcome, { kind: 'insufficient' | 'budget_exceeded' | 'models_changed' }>

/** The first offer and, given why the last one was refused, the next, or undefined when there is none. */
export type Negotiation = { first: Offer; next(refusal: Refusal): Promise<Offer | undefined> }

/** Changes of one key that one request lives through before it is told to come back. */
const MAX_REPLANS = 5

/** Plans the request and makes the first offer for it. Throws where no model may or can serve it. */
export async function negotiate(
  deps: NegotiationDeps,
  arrived: ArrivedRequest,
  session: Session | undefined,
): Promise<Negotiation> {
  let draft = await draftAllowed(deps, arrived, session)
  let replans = 0
  return {
    first: draft.offer,
    async next(refusal) {
      if (refusal.kind !== 'models_changed') return shrink(draft, payable(refusal))
      if (++replans > MAX_REPLANS) return undefined
      deps.permissions.note(arrived.payer.keyId, refusal.allowedModels)
      draft = await draftFor(deps, arrived, session, refusal.allowedModels)
      return draft.offer
    },
  }
}

/** What a request may cost: no more than the account has, nor than the key's budget leaves. */
function payable(refusal: Exclude<Refusal, { kind: 'models_changed' }>): Nano {
  const left = refusal.kind === 'budget_exceeded' ? Math.min(refusal.remaining, refusal.available) : refusal.available
  return nano(Math.max(left, 0))
}

/** A plan, the first offer for it, and the size it has been shrunk to since. */
type Draft = { offer: Offer; sized: Sized; size: HoldSize; step: 'quick' | 'exact' | 'lowered' }

/** Drafts with what this process believes of the key. Nobody is refused for a belief: the ledger is asked first. */
async function draftAllowed(
  deps: NegotiationDeps,
  arrived: ArrivedRequest,
  session: Session | undefined,
): Promise<Draft> {
  const { payer } = arrived
  const believed = deps.permissions.recall(payer.keyId)
  try {
    return await draftFor(deps, arrived, session, believed)
  } catch (error) {
    if (believed === null) throw error
    const key = await deps.ledger.readKey(payer)
    if (!key || allowedModelsText(key.allowedModels) === allowedModelsText(believed)) throw error
    deps.permissions.note(payer.keyId, key.allowedModels)
    return await draftFor(deps, arrived, session, key.allowedModels)
  }
}

async function draftFor(
  deps: NegotiationDeps,
  arrived: ArrivedRequest,
  session: Session | undefined,
  allowedModels: AllowedModels,
): Promise<Draft> {
  const plan = await deps.router.plan(arrived.request, { clientFormat: arrived.format.name, session, allowedModels })
  const { models, targets, requirements } = plan
  const { request, addedBytes } = await restoreSignatures(deps, arrived, plan)
  // What was put back into the request is read by the model as well.
  const prompt = request === arrived.request ? requirements.prompt : measurePrompt(request)
  const sized = { request, prompt, models, targets }
  const size = quickSize(sized, arrived.bodyBytes + addedBytes)
  return { offer: { plan, request, loweredCap: undefined, size, allowedModels }, sized, size, step: 'quick' }
}

/** A provider of another format than the client's may have signed what the client could not keep. */
async function restoreSignatures(
  { signatures }: NegotiationDeps,
  { format, payer, request }: ArrivedRequest,
  { targets }: Plan,
): Promise<{ request: ChatRequest; addedBytes: number }> {
  if (targets.every(({ target }) => target.provider.format === format.name)) return { request, addedBytes: 0 }
  const restored = await signatures.restore(payer.accountId, request)
  if (restored === request) return { request, addedBytes: 0 }
  const addedBytes =
    Buffer.byteLength(JSON.stringify(restored.turns)) - Buffer.byteLength(JSON.stringify(request.turns))
  return { request: restored, addedBytes: Math.max(0, addedBytes) }
}

/**
 * What to offer when balance or budget refuses a size: first an exact count instead of the cheap bound; then, where the caller set
 * no output limit, the largest one that they pay.
 */
async function shrink(draft: Draft, available: Nano): Promise<Offer | undefined> {
  const { offer, sized } = draft
  const canLower = sized.request.maxOutputTokens === undefined
  if (draft.step === 'quick') {
    draft.step = 'exact'
    draft.size = await exactSize(sized, offer.size)
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
