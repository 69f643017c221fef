/**
 * `withHold` is the only way to an upstream: nothing is called before credit is reserved, and every way out of it, be it a
 * return, a throw, a hang-up or a bug, settles or releases exactly once.
 */
import { GatewayError } from '@/chat/error'
import type { RateLimits } from '@/chat/rate-limits'
import { inputTokens } from '@/chat/usage'
import { type Charge, FREE_HANG_UPS_PER_HOUR } from '@/ledger/charge'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, Renewal, ReserveOutcome, Settlement, SettleOutcome } from '@/ledger/outcomes'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { CrashPoint } from '@/lib/crash-point'
import type { Nano } from '@/lib/money'
import type { Tracing } from '@/telemetry/tracing'
import { denial } from './denial'
import type { HoldKeeper } from './hold-keeper'
import type { HoldSize } from './hold-size'
import type { Settler } from './settler'
import type { Negotiation, Refusal, Terms } from './terms'

export type HoldDeps = {
  ledger: Pick<Ledger, 'reserve'>
  settler: Pick<Settler, 'resolve'>
  keeper: Pick<HoldKeeper, 'keep' | 'forget'>
  /** How long a hold outlives its gateway's last renewal. */
  holdTtlMs: number
  crashPoint: CrashPoint
  tracing?: Tracing | undefined
}

/** What the ledger should charge if this process died right now. */
export type Progress = { cost: Nano; facts: RequestFacts }

/**
 * Credit set aside for one request. Of the calls that end it, `settle`, `hangUp` and `release`, only the first counts; later ones
 * wait for the first. All return when the ledger knows, or soon after.
 */
export interface Hold {
  readonly size: HoldSize
  /** What the reserve left of the key's rate limits. */
  readonly limits: RateLimits
  /** Tells the keeper what to record, should this process die: called with fresh figures whenever a renewal is due. */
  onRenewal(progress: () => Progress): void
  settle(charge: Extract<Charge, { kind: 'charge' }>, facts: RequestFacts): Promise<void>
  /**
   * Settles for a client that left before the first byte: for nothing, where the store finds that the account has free ones left.
   * Returns what was charged, or what was asked for where the store has not said yet.
   */
  hangUp(charge: Extract<Charge, { kind: 'charge' }>, facts: RequestFacts): Promise<Nano>
  release(): Promise<void>
  /** The answer's stream now owns the hold and will end it. */
  handOver(): void
}

/**
 * Reserves, runs `use` with what was agreed, and makes sure that the hold ends. Throws a GatewayError where the ledger
 * refuses: 401, 402, 429, or 503 where it cannot be reached.
 */
export async function withHold<Offered extends Terms>(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  negotiation: Negotiation<Offered>,
  use: (hold: Hold, agreed: Offered) => Promise<Response>,
): Promise<Response> {
  const { agreed, limits } = await reserveCredit(deps, payer, holdId, negotiation)
  deps.crashPoint('reserved')
  const hold = createHold(deps, payer, holdId, agreed.size, limits)
  try {
    const response = await use(hold, agreed)
    assert(hold.isTakenCareOf(), 'a request ended without settling, releasing or handing over its hold')
    return response
  } catch (error) {
    await hold.release()
    throw error
  }
}

/** Not inside `withHold`: what an async function makes keeps all that the function has, here the request, while a stream lives. */
function createHold(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  size: HoldSize,
  limits: RateLimits,
): Hold & { isTakenCareOf(): boolean } {
  let ending: Promise<SettleOutcome | undefined> | undefined
  let isHandedOver = false
  return {
    size,
    limits,
    onRenewal: (progress) => deps.keeper.keep(() => renewalOf(deps.holdTtlMs, payer, holdId, progress()), holdId),
    async settle(charge, facts) {
      ending ??= settle(deps, payer, holdId, charge, facts)
      await ending
    },
    async hangUp(charge, facts) {
      ending ??= settle(deps, payer, holdId, charge, facts, FREE_HANG_UPS_PER_HOUR)
      const outcome = await ending
      return outcome?.kind === 'settled' ? outcome.record.cost : charge.cost
    },
    async release() {
      ending ??= release(deps, payer, holdId)
      await ending
    },
    handOver() {
      isHandedOver = true
      deps.crashPoint('answering')
    },
    isTakenCareOf: () => ending !== undefined || isHandedOver,
  }
}

async function settle(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  { cost, usage }: Extract<Charge, { kind: 'charge' }>,
  facts: RequestFacts,
  freePerHour?: number,
): Promise<SettleOutcome | undefined> {
  deps.keeper.forget(holdId)
  const settlement: Settlement = { ...payer, holdId, cost, tokens: inputTokens(usage) + usage.output, facts }
  if (freePerHour !== undefined) settlement.freePerHour = freePerHour
  deps.crashPoint('settling')
  const outcome = await deps.settler.resolve({ kind: 'settle', settlement })
  deps.crashPoint('settled')
  return outcome
}

function release(deps: HoldDeps, payer: Payer, holdId: string): Promise<SettleOutcome | undefined> {
  deps.keeper.forget(holdId)
  return deps.settler.resolve({ kind: 'release', ...payer, holdId })
}

function renewalOf(ttlMs: number, { accountId }: Payer, holdId: string, { cost, facts }: Progress): Renewal {
  return { accountId, holdId, ttlMs, cost, facts, reached: true }
}

async function reserveCredit<Offered extends Terms>(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  negotiation: Negotiation<Offered>,
): Promise<{ agreed: Offered; limits: RateLimits }> {
  let offer = negotiation.first
  for (;;) {
    const outcome = await reserveOnce(deps, payer, holdId, offer)
    if (outcome.kind === 'reserved') return { agreed: offer, limits: outcome.limits }
    const next = isNegotiable(outcome) ? await negotiation.next(outcome) : undefined
    if (!next) throw denial(outcome, offer.size)
    offer = next
  }
}

const NEGOTIABLE: ReadonlySet<ReserveOutcome['kind']> = new Set<Refusal['kind']>([
  'insufficient',
  'budget_exceeded',
  'models_changed',
])

function isNegotiable(outcome: ReserveOutcome): outcome is Refusal {
  return NEGOTIABLE.has(outcome.kind)
}

async function reserveOnce(
  deps: HoldDeps,
  payer: Payer,
  holdId: string,
  { size, allowedModels }: Terms,
): Promise<ReserveOutcome> {
  try {
    const reserving = deps.ledger.reserve({
      ...payer,
      holdId,
      amount: size.amount,
      inputCost: size.inputCost,
      tokens: size.rateTokens,
      ttlMs: deps.holdTtlMs,
      allowedModels,
    })
    deps.tracing?.step(holdId, 'reserve', reserving, ({ kind }) => ({ outcome: kind, hold_nano_usd: size.amount }))
    return await reserving
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
