/**
 * Negotiates a hold for a request. The first offer uses the remembered permissions of the key. If these have changed, or credit is too low,
 * another offer follows.
 */

import { type Allowed, allowedText, EVERYTHING, parseAllowed } from '@/ledger/allowed'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, ReserveOutcome } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { type Nano, nano } from '@/lib/money'
import type { Soon } from '@/lib/wait/soon'
import type { PlannedTarget } from '@/routing/plan/plan'
import type { HoldSize } from './hold-size'
import type { KeyPermissions } from './key-permissions'

/** An offer to the ledger. The accepted offer decides how the request runs. */
export type Offer = {
  readonly size: HoldSize
  readonly allowed: Allowed
  readonly plan: { targets: readonly PlannedTarget[] }
  /** The next smaller offer after a refusal; undefined if there is none. Counting tokens waits for the account's turn in the queue. */
  shrink(available: Nano, accountId: string): Promise<Offer | undefined>
}

/** A refusal after which another offer may be accepted. */
export type Refusal = Extract<
  ReserveOutcome,
  { kind: 'insufficient' | 'budget_exceeded' | 'over_budget' | 'models_changed' }
>

export type TermsDeps = { ledger: Pick<Ledger, 'readKey'>; permissions: KeyPermissions }

/** If a key changes more often than this during one request, the request is refused with `retry-after`. */
const MAX_REPLANS = 5

export abstract class Negotiation<Offered extends Offer> {
  private latest: Offered | undefined
  private replans = 0

  constructor(
    private readonly terms: TermsDeps,
    protected readonly payer: Payer,
  ) {}

  /** Plans the request for a key with these permissions; throws if no allowed target can serve it. */
  protected abstract offer(allowed: Allowed): Soon<Offered>

  get offered(): Offered {
    assert(this.latest, 'there is an offer once it has begun')
    return this.latest
  }

  /** Makes the first offer, synchronously if no look-up is needed. */
  begin(): Soon<this> {
    const believed = this.terms.permissions.recall(this.payer.keyId)
    const offering = believed === EVERYTHING ? this.offer(believed) : this.offerBelieved(believed)
    if (offering instanceof Promise) return offering.then((offer) => this.make(offer))
    return this.make(offering)
  }

  /** Makes the next offer after a refusal; false if there is none. */
  async goOn(refusal: Refusal): Promise<boolean> {
    if (refusal.kind !== 'models_changed') {
      const smaller = await this.offered.shrink(payable(refusal), this.payer.accountId)
      if (smaller) this.latest = smaller as Offered
      return smaller !== undefined
    }
    if (++this.replans > MAX_REPLANS) return false
    this.terms.permissions.note(this.payer.keyId, refusal.allowed)
    this.latest = await this.offer(refusal.allowed)
    return true
  }

  private make(offer: Offered): this {
    this.latest = offer
    return this
  }

  /** Makes an offer by the remembered permissions. If they allow no target, reads the current ones from the ledger. */
  private async offerBelieved(believed: Allowed): Promise<Offered> {
    const { ledger, permissions } = this.terms
    try {
      return await this.offer(believed)
    } catch (error) {
      const key = await ledger.readKey(this.payer)
      if (!key || allowedText(key) === allowedText(believed)) throw error
      const allowed = parseAllowed(allowedText(key))
      permissions.note(this.payer.keyId, allowed)
      return await this.offer(allowed)
    }
  }
}

/** The most that a request may cost: the minimum of balance and budgets. */
function payable(refusal: Exclude<Refusal, { kind: 'models_changed' }>): Nano {
  const left = 'remaining' in refusal ? Math.min(refusal.remaining, refusal.available) : refusal.available
  return nano(Math.max(left, 0))
}
