/**
 * Turns a request into an offer to the ledger, and a refused offer into the next one: planned again where the key may call
 * other models than this process believed, counted exactly or with a lower output limit where the credit does not suffice.
 */
import { measurePrompt, type Prompt } from '@/catalog/estimate'
import type { ChatRequest } from '@/chat/request'
import { unreachedFacts } from '@/gateway/answer'
import type { ChatCall, ChatDeps } from '@/gateway/chat-call'
import { type AllowedModels, allowedModelsText } from '@/ledger/allowed-models'
import type { ReserveOutcome } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { type Nano, nano } from '@/lib/money'
import type { Plan } from '@/routing/plan/plan'
import type { Negotiation, Offer } from './hold'
import { affordableCap, exactSize, type HoldSize, quickSize, resize } from './hold-size'

/** A request on its way to an offer that the ledger takes. */
type Draft = {
  plan: Plan
  call: ChatCall
  /** The output cap that the balance can pay, where the caller set none and the model's own is too dear. */
  loweredCap: number | undefined
}

/** What was agreed on is in `draft` once the ledger has reserved. Throws where no model may or can serve the request. */
export async function negotiate(
  deps: ChatDeps,
  arrived: ChatCall,
  session: string | undefined,
): Promise<Negotiation & { draft(): Draft }> {
  let planned = await planAllowed(deps, arrived, session)
  let draft: Draft = planned
  let smallerSizes = shrink(planned, (cap) => {
    draft = withCap(planned, cap)
  })
  let replans = 0
  const offer = (size: HoldSize): Offer => ({ size, facts: planned.facts, allowedModels: planned.allowedModels })
  return {
    draft: () => draft,
    first: offer(smallerSizes.quick),
    async next(refusal) {
      if (refusal.kind === 'insufficient') {
        const size = await smallerSizes.next(refusal)
        return size && offer(size)
      }
      if (++replans > MAX_REPLANS) return undefined
      deps.permissions.note(arrived.payer.keyId, refusal.allowedModels)
      planned = await plan(deps, arrived, session, refusal.allowedModels)
      draft = planned
      smallerSizes = shrink(planned, (cap) => {
        draft = withCap(planned, cap)
      })
      return offer(smallerSizes.quick)
    },
  }
}

/** Changes of one key that one request lives through before it is told to come back. */
const MAX_REPLANS = 5

type Planned = Draft & { prompt: Prompt; allowedModels: AllowedModels; facts: Offer['facts'] }

/** Plans with what this process believes of the key. Nobody is refused for a belief: the ledger is asked first. */
async function planAllowed(deps: ChatDeps, call: ChatCall, session: string | undefined): Promise<Planned> {
  const { payer } = call
  const believed = deps.permissions.recall(payer.keyId)
  try {
    return await plan(deps, call, session, believed)
  } catch (error) {
    if (believed === null) throw error
    const key = await deps.ledger.readKey(payer)
    if (!key || allowedModelsText(key.allowedModels) === allowedModelsText(believed)) throw error
    deps.permissions.note(payer.keyId, key.allowedModels)
    return await plan(deps, call, session, key.allowedModels)
  }
}

async function plan(
  deps: ChatDeps,
  arrived: ChatCall,
  session: string | undefined,
  allowedModels: AllowedModels,
): Promise<Planned> {
  const made = await deps.router.plan(arrived.request, { clientFormat: arrived.format.name, session, allowedModels })
  const call = await restoreSignatures(deps, arrived, made)
  const [first] = made.targets
  assert(first, 'a plan has at least one target')
  // What was put back into the request is read by the model as well.
  const prompt = call === arrived ? made.requirements.prompt : measurePrompt(call.request)
  return { plan: made, call, prompt, loweredCap: undefined, allowedModels, facts: unreachedFacts(call, first) }
}

/** A provider of another format than the client's may have signed what the client could not keep. */
async function restoreSignatures(deps: ChatDeps, call: ChatCall, { targets }: Plan): Promise<ChatCall> {
  if (targets.every(({ target }) => target.provider.format === call.format.name)) return call
  const request = await deps.signatures.restore(call.payer.accountId, call.request)
  if (request === call.request) return call
  const addedBytes =
    Buffer.byteLength(JSON.stringify(request.turns)) - Buffer.byteLength(JSON.stringify(call.request.turns))
  return { ...call, request, bodyBytes: call.bodyBytes + Math.max(0, addedBytes) }
}

function withCap(planned: Planned, cap: number): Draft {
  const { plan, call } = planned
  return { plan, call: { ...call, request: { ...call.request, maxOutputTokens: cap } }, loweredCap: cap }
}

type Sizes = {
  quick: HoldSize
  next(refusal: Extract<ReserveOutcome, { kind: 'insufficient' }>): Promise<HoldSize | undefined>
}

/**
 * What to offer when the balance refuses a size: first an exact count instead of the cheap bound; then, where the caller set
 * no output limit, the largest one that the balance pays.
 */
function shrink({ call, prompt, plan: { models } }: Planned, lowerCap: (cap: number) => void): Sizes {
  const { request } = call
  const sized = { request, prompt, models }
  const quick = quickSize(sized, call.bodyBytes)
  let size = quick
  let step: 'exact' | 'lowered' | 'none' = 'exact'
  return {
    quick,
    async next({ available }) {
      if (step === 'exact') {
        step = request.maxOutputTokens === undefined ? 'lowered' : 'none'
        size = await exactSize(sized, quick)
        if (size.amount <= available || step === 'none') return size.amount < quick.amount ? size : undefined
      }
      if (step !== 'lowered') return undefined
      step = 'none'
      const lowered = lower(request, size, models, nano(Math.max(available, 0)))
      if (!lowered) return undefined
      lowerCap(lowered.cap)
      return lowered.size
    },
  }
}

function lower(request: ChatRequest, size: HoldSize, models: Plan['models'], available: Nano) {
  const cap = affordableCap(request, size, models, available)
  if (cap === undefined) return undefined
  return { cap, size: resize({ ...request, maxOutputTokens: cap }, size, models) }
}
