import { GatewayError } from '@/chat/error'
import type { RateLimits } from '@/chat/rate-limits'
import { inputTokens } from '@/chat/usage'
import type { Charge } from '@/ledger/charge'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, Renewal, ReserveOutcome, Settlement, SettleOutcome } from '@/ledger/outcomes'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { CrashPoint } from '@/lib/crash-point'
import type { Nano } from '@/lib/money'
import type { Tracing } from '@/telemetry/tracing'
import { denialFor, type SeesBalance } from './denial'
import type { HoldKeeper, Renewable } from './hold-keeper'
import type { HoldSize } from './hold-size'
import type { Settler } from './settler'
import type { Negotiation, Offer, Refusal } from './terms'

export type HoldDeps = {
  ledger: Pick<Ledger, 'reserve'>
  settler: Pick<Settler, 'resolve'>
  keeper: Pick<HoldKeeper, 'keep' | 'forget'>
  seesBalance: SeesBalance
  /** How long a hold lives after its last renewal. */
  holdTtlMs: number
  crashPoint: CrashPoint
  tracing?: Tracing | undefined
}

type Holder = {
  payer: Payer
  requestId: string
  line: { requestedModel?: string | undefined }
  readonly clientAddress: string
}

type Due = Extract<Charge, { kind: 'charge' }>

/** The charge to record in case this process dies. */
export type Progress = { cost: Nano; facts: RequestFacts }

export type Hold = Pick<OpenHold, Exclude<keyof OpenHold, keyof Renewable | 'isTakenCareOf'>>

/**
 * `withHold` is the only way to an upstream. It reserves credit before any call, and settles or releases exactly once, after a return, an
 * error, a disconnect or a bug. Reserves, runs `use` with the accepted offer, and makes sure that the hold ends. Throws a GatewayError if
 * the ledger refuses: 401, 402, 429, or 503 if it is unreachable.
 */
export async function withHold<Offered extends Offer>(
  deps: HoldDeps,
  holder: Holder,
  negotiation: Negotiation<Offered>,
  use: (hold: Hold, offer: Offered) => Promise<Response>,
): Promise<Response> {
  const { payer, requestId: holdId } = holder
  const beginning = deps.tracing ? beginTraced(deps.tracing, holder, negotiation) : negotiation.begin()
  if (beginning instanceof Promise) await beginning
  let outcome: ReserveOutcome
  for (;;) {
    const { offered } = negotiation
    try {
      outcome = await reserve(deps, holder, offered)
    } catch (cause) {
      throw takeBack(deps, holder, cause)
    }
    if (outcome.kind === 'reserved') break
    if (isNegotiable(outcome) && (await negotiation.goOn(outcome))) continue
    throw await denialFor(deps.seesBalance, payer, outcome, offered.size)
  }
  deps.crashPoint('reserved')
  const { offered } = negotiation
  const hold = new OpenHold(deps, payer, holdId, offered.size, outcome.limits)
  try {
    const response = await use(hold, offered)
    assert(hold.isTakenCareOf(), 'a request ended without settling, releasing or handing over its hold')
    return response
  } catch (error) {
    await hold.release()
    throw error
  }
}

/** Traces the planning as a separate step. */
function beginTraced(tracing: Tracing, { requestId, line }: Holder, negotiation: Negotiation<Offer>): Promise<unknown> {
  const beginning = Promise.try(() => negotiation.begin())
  tracing.step(requestId, 'plan', beginning, ({ offered }) => ({
    requested_model: line.requestedModel,
    targets: offered.plan.targets.map(({ target }) => `${target.provider.name}/${target.model}`),
  }))
  return beginning
}

/** Credit reserved for one request. Only the first `settle` or `release` has an effect; both wait for the ledger, at most a second. */
class OpenHold implements Renewable {
  renewAtMs = 0
  private progress: (() => Progress) | undefined
  private ending: Promise<SettleOutcome | undefined> | undefined
  private isHandedOver = false

  constructor(
    private readonly deps: HoldDeps,
    private readonly payer: Payer,
    private readonly holdId: string,
    readonly size: HoldSize,
    /** The remaining part of the key's rate limits after the reserve. */
    readonly limits: RateLimits,
  ) {}

  get accountId(): string {
    return this.payer.accountId
  }

  /** Sets the source of the figures that each renewal records, in case this process dies. */
  onRenewal(progress: () => Progress): void {
    this.progress = progress
    this.deps.keeper.keep(this)
  }

  renewal(): Renewal {
    assert(this.progress, 'a hold is kept from its first attempt on')
    const { cost, facts } = this.progress()
    return {
      accountId: this.accountId,
      holdId: this.holdId,
      ttlMs: this.deps.holdTtlMs,
      cost,
      facts,
      reached: true,
    }
  }

  /** Settles the hold; the first `freePerHour` disconnects of an account in an hour are free. Resolves to the outcome, if known. */
  settle(charge: Due, facts: RequestFacts, freePerHour?: number): Promise<SettleOutcome | undefined> {
    this.ending ??= this.end(charge, facts, freePerHour)
    return this.ending
  }

  async release(): Promise<void> {
    if (!this.ending) {
      this.deps.keeper.forget(this)
      this.ending = this.deps.settler.resolve({ kind: 'release', ...this.payer, holdId: this.holdId })
    }
    await this.ending
  }

  /** The answer's stream now owns the hold and will end it. */
  handOver(): void {
    this.isHandedOver = true
    this.deps.crashPoint('answering')
  }

  isTakenCareOf(): boolean {
    return this.ending !== undefined || this.isHandedOver
  }

  private end({ cost, usage }: Due, facts: RequestFacts, freePerHour?: number): Promise<SettleOutcome | undefined> {
    const { deps, holdId } = this
    deps.keeper.forget(this)
    const { accountId, keyId, memberId } = this.payer
    const tokens = inputTokens(usage) + usage.output
    const settlement: Settlement = { accountId, keyId, memberId, holdId, cost, tokens, facts }
    if (freePerHour !== undefined) settlement.freePerHour = freePerHour
    deps.crashPoint('settling')
    return deps.settler.resolve({ kind: 'settle', settlement })
  }
}

function isNegotiable(outcome: ReserveOutcome): outcome is Refusal {
  const { kind } = outcome
  return kind === 'insufficient' || kind === 'budget_exceeded' || kind === 'over_budget' || kind === 'models_changed'
}

function reserve(
  { ledger, holdTtlMs: ttlMs }: HoldDeps,
  from: Holder,
  { size: { amount, inputCost, rateTokens: tokens }, allowed }: Offer,
): Promise<ReserveOutcome> {
  const { accountId, keyId, memberId, secret } = from.payer
  const holdId = from.requestId
  return ledger.reserve({ accountId, keyId, memberId, secret, from, holdId, amount, inputCost, tokens, ttlMs, allowed })
}

/** Releases a hold by its id when the store is back: the reserve may have succeeded although its reply was lost. */
function takeBack({ settler }: HoldDeps, { payer, requestId: holdId }: Holder, cause: unknown): GatewayError {
  const { accountId, keyId, memberId } = payer
  void settler.resolve({ kind: 'release', accountId, keyId, memberId, holdId })
  return new GatewayError('overloaded', 'The service cannot accept requests at the moment. Try again.', {
    code: 'ledger_unavailable',
    retryAfterSeconds: 1,
    cause,
  })
}
