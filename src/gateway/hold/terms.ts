/**
 * Comes to terms with the ledger, whatever a request asks for: drafts by what this process believes that the key may call, drafts
 * anew where that was wrong, and offers less where credit or budget do not suffice.
 */

import { type AllowedModels, allowedModelsText } from '@/ledger/allowed-models'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, ReserveOutcome } from '@/ledger/outcomes'
import { type Nano, nano } from '@/lib/money'
import { type Soon, whenThere } from '@/lib/wait/soon'
import type { HoldSize } from './hold-size'
import type { KeyPermissions } from './key-permissions'

/** What the ledger is asked to reserve, and the models that the request was planned with. */
export type Terms = { size: HoldSize; allowedModels: AllowedModels }

/** A refusal that another offer may turn into a hold. */
export type Refusal = Extract<ReserveOutcome, { kind: 'insufficient' | 'budget_exceeded' | 'models_changed' }>

/** The first offer and, given why the last one was refused, the next, or undefined when there is none. */
export type Negotiation<Offered extends Terms> = {
  first: Offered
  next(refusal: Refusal): Promise<Offered | undefined>
}

/** An offer, and the next smaller one whenever `available` refuses the last. */
export type Draft<Offered extends Terms> = { offer: Offered; shrink(available: Nano): Promise<Offered | undefined> }

export type TermsDeps = { ledger: Pick<Ledger, 'readKey'>; permissions: KeyPermissions }

/** Changes of one key that one request lives through before it is told to come back. */
const MAX_REPLANS = 5

/** Plans a request for a key that may call these models; throws where none can serve it. */
type DraftFor<Offered extends Terms> = (allowedModels: AllowedModels) => Soon<Draft<Offered>>

/** Makes the first offer: at once, where nothing has to be looked up for it. */
export function negotiateTerms<Offered extends Terms>(
  deps: TermsDeps,
  payer: Payer,
  draftFor: DraftFor<Offered>,
): Soon<Negotiation<Offered>> {
  const believed = deps.permissions.recall(payer.keyId)
  const drafting = believed === null ? draftFor(null) : draftBelieved(deps, payer, believed, draftFor)
  return whenThere(drafting, (draft) => negotiateFrom(deps, payer, draft, draftFor))
}

function negotiateFrom<Offered extends Terms>(
  deps: TermsDeps,
  payer: Payer,
  first: Draft<Offered>,
  draftFor: DraftFor<Offered>,
): Negotiation<Offered> {
  let draft = first
  let replans = 0
  return {
    first: draft.offer,
    async next(refusal) {
      if (refusal.kind !== 'models_changed') return draft.shrink(payable(refusal))
      if (++replans > MAX_REPLANS) return undefined
      deps.permissions.note(payer.keyId, refusal.allowedModels)
      draft = await draftFor(refusal.allowedModels)
      return draft.offer
    },
  }
}

/** What a request may cost: no more than the account has, nor than the key's budget leaves. */
function payable(refusal: Exclude<Refusal, { kind: 'models_changed' }>): Nano {
  const left = refusal.kind === 'budget_exceeded' ? Math.min(refusal.remaining, refusal.available) : refusal.available
  return nano(Math.max(left, 0))
}

/** Drafts with what this process believes of the key. Nobody is refused for a belief: the ledger is asked first. */
async function draftBelieved<Offered extends Terms>(
  { ledger, permissions }: TermsDeps,
  payer: Payer,
  believed: AllowedModels,
  draftFor: DraftFor<Offered>,
): Promise<Draft<Offered>> {
  try {
    return await draftFor(believed)
  } catch (error) {
    const key = await ledger.readKey(payer)
    if (!key || allowedModelsText(key.allowedModels) === allowedModelsText(believed)) throw error
    permissions.note(payer.keyId, key.allowedModels)
    return await draftFor(key.allowedModels)
  }
}
