/**
 * `withHold` is the only way to an upstream: nothing is called before credit is reserved, and every way out of it, be it a
 * return, a throw, a hang-up or a bug, settles or releases exactly once.
 */
import { GatewayError } from '@/chat/error'
import type { Settler } from '@/gateway/charge/settler'
import type { Charge } from '@/ledger/charge'
import type { Ledger } from '@/ledger/ledger'
import type { AllowedModels, Payer, RateLimitState, Renewal, ReserveOutcome } from '@/ledger/outcomes'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { CrashPoint } from '@/lib/crash-point'
import type { Nano } from '@/lib/money'
import { denial } from './denial'
import type { HoldKeeper } from './hold-keeper'
import type { HoldSize } from './hold-size'

export type HoldDeps = {
  ledger: Ledger
  settler: Settler
  keeper: HoldKeeper
  /** How long a hold outlives its gateway's last renewal. */
  holdTtlMs: number
  crashPoint: CrashPoint
}

/** Credit set aside for one request. */
export interface Hold {
  readonly id: string
  readonly size: HoldSize
  readonly limits: RateLimitState
  /** Tells the keeper what to record, should this process die: called with fresh figures whenever a renewal is due. */
  onRenewal(progress: () => { cost: Nano; facts: RequestFacts }): void
  /** Ends the hold. Only the first call counts; later ones wait for the first. Returns when the ledger knows, or soon after. */
  resolve(charge: Charge, facts: (charge: Charge & { kind: 'charge' }) => RequestFacts): Promise<void>
  /** The answer's stream now owns the hold and will resolve it. */
  handOver(): void
}

/** What the ledger is asked to reserve. */
export type Offer = {
  size: HoldSize
  /** What the ledger writes if this process dies before its first renewal. */
  facts: RequestFacts
  /** The models that the request was planned with. */
  allowedModels: AllowedModels
}

/** A refusal that another offer may turn into a hold. */
type Refusal = Extract<ReserveOutcome, { kind: 'insufficient' | 'models_changed' }>

/** The first offer and, given why the last one was refused, the next, or undefined when there is none. */
export type Negotiation = { first: Offer; next(refusal: Refusal): Promise<Offer | undefined> }

/**
 * Reserves, runs `use`, and makes sure that the hold ends. Throws a GatewayError where the ledger refuses: 401, 402, 429, or
 * 503 where it cannot be reached.
 */
export async function withHold(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  negotiation: Negotiation,
  use: (hold: Hold) => Promise<Response>,
): Promise<Response> {
  const { size, limits } = await reserveCredit(deps, payer, holdId, negotiation)
  deps.crashPoint('reserved')
  let resolution: Promise<void> | undefined
  let isHandedOver = false
  async function end(charge: Charge, facts: (charge: Charge & { kind: 'charge' }) => RequestFacts): Promise<void> {
    deps.keeper.forget(holdId)
    if (charge.kind === 'free') return deps.settler.resolve({ kind: 'release', ...payer, holdId })
    const tokens =
      charge.usage.uncached + charge.usage.cacheRead + charge.usage.cacheWrite5m + charge.usage.cacheWrite1h
    const settlement = {
      ...payer,
      holdId,
      cost: charge.cost,
      tokens: tokens + charge.usage.output,
      facts: facts(charge),
    }
    deps.crashPoint('settling')
    await deps.settler.resolve({ kind: 'settle', settlement })
    deps.crashPoint('settled')
  }
  const hold: Hold = {
    id: holdId,
    size,
    limits,
    onRenewal: (progress) => deps.keeper.keep(renewalOf(deps.holdTtlMs, payer, holdId, progress), holdId),
    resolve(charge, facts) {
      resolution ??= end(charge, facts)
      return resolution
    },
    handOver() {
      isHandedOver = true
      deps.crashPoint('answering')
    },
  }
  try {
    const response = await use(hold)
    assert(resolution || isHandedOver, 'a request ended without settling, releasing or handing over its hold')
    return response
  } catch (error) {
    resolution ??= end({ kind: 'free' }, noFacts)
    await resolution
    throw error
  }
}

function noFacts(): never {
  throw new Error('a free ending has no facts')
}

function renewalOf(
  ttlMs: number,
  payer: Payer,
  holdId: string,
  progress: () => { cost: Nano; facts: RequestFacts },
): () => Renewal {
  return () => {
    const { cost, facts } = progress()
    return { accountId: payer.accountId, holdId, ttlMs, cost, facts, reached: true }
  }
}

async function reserveCredit(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  negotiation: Negotiation,
): Promise<{ size: HoldSize; limits: RateLimitState }> {
  let offer = negotiation.first
  for (;;) {
    const outcome = await reserveOnce(deps, payer, holdId, offer)
    if (outcome.kind === 'reserved') return { size: offer.size, limits: outcome.limits }
    const next = isNegotiable(outcome) ? await negotiation.next(outcome) : undefined
    if (!next) throw denial(outcome)
    offer = next
  }
}

function isNegotiable(outcome: ReserveOutcome): outcome is Refusal {
  return outcome.kind === 'insufficient' || outcome.kind === 'models_changed'
}

async function reserveOnce(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  { size, facts, allowedModels }: Offer,
): Promise<ReserveOutcome> {
  try {
    return await deps.ledger.reserve({
      ...payer,
      holdId,
      amount: size.amount,
      inputCost: size.inputCost,
      tokens: size.rateTokens,
      ttlMs: deps.holdTtlMs,
      facts,
      allowedModels,
    })
  } catch (cause) {
    // The reserve may have happened although its answer was lost: it is taken back by its id, whenever the store returns.
    void deps.settler.resolve({ kind: 'release', ...payer, holdId })
    throw new GatewayError('overloaded', 'The service is temporarily unable to take requests. Try again.', {
      code: 'ledger_unavailable',
      retryAfterSeconds: 1,
      cause,
    })
  }
}
