/**
 * Runs the attempts of one request until one has an answer. Attempts run one at a time, but if one is silent for too long, the next target
 * is called in parallel. The first content wins. The customer doesn't pay for the other call.
 */
import { bearsTiers } from '@/catalog/priceable'
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import type { Meter } from '@/gateway/charge/meter'
import { costThrownAway, type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Hold } from '@/gateway/hold/hold'
import { type ArrivedRequest, plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import { coarseNowMs, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { Soon } from '@/lib/wait/soon'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptNote } from '@/routing/failover/failover-state'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { Plan } from '@/routing/plan/plan'
import { describeTrail, routeReason } from '@/routing/route-reason'
import type { AttemptListener } from '@/telemetry/tracing'
import { type Failed, isFailure, OpenAttempt, type Outcome } from './open-attempt'

type AttemptsDeps = {
  clock: Clock
  formats: ReadonlyMap<FormatName, Format>
  /** Counts calls that lost to a faster one. */
  metrics: Pick<SettleDeps['metrics'], 'thrownAway'>
}

type Call = Omit<ArrivedRequest, 'asked'> &
  Pick<OpenCharge, 'line' | 'onSettled' | 'arrivedMonotonicMs'> & { signal: AbortSignal }

/** The parts of a charge that depend on the request. */
type Asked = Pick<OpenCharge, 'tools' | 'writesForHour' | 'serviceTier'> & {
  request: Parameters<typeof plannedFacts>[1]
  meter: Meter
  listener: AttemptListener | undefined
}

/** How often to check whether an attempt has been silent for too long. */
const LOOK_MS = 250

/** Subclasses define how an attempt is started. */
export abstract class Attempts<
  Started extends Outcome,
  Deps extends AttemptsDeps,
  Asking extends Call,
  Offered extends { plan: Plan },
> implements Timed
{
  dueAtMs = Number.POSITIVE_INFINITY
  /** Milliseconds spent waiting for upstreams until the first answer. */
  upstreamMs = 0
  private readonly startedMs: number
  private readonly told = Promise.withResolvers<Response>()
  private readonly underWay: OpenAttempt<Started>[] = []
  private firstError: GatewayError | undefined

  constructor(
    protected readonly deps: Deps,
    protected readonly call: Asking,
    protected readonly hold: Hold,
    protected readonly offer: Offered,
    private readonly failover: Failover,
  ) {
    this.startedMs = deps.clock.monotonic()
  }

  protected abstract begin(permit: Permit): OpenAttempt<Started>

  protected abstract tell(winner: OpenAttempt<Started>): Soon<Response>

  answer(): Promise<Response> {
    this.goOn(undefined)
    return this.told.promise
  }

  ended(attempt: OpenAttempt<Started>): void {
    const { result, error } = attempt
    if (!result) this.fail(error)
    else if (isFailure(result)) this.leave(attempt, result)
    else this.win(attempt)
  }

  onDue(): void {
    this.dueAtMs = coarseNowMs() + LOOK_MS
    const [eldest] = this.underWay
    const newest = this.underWay.at(-1)
    if (!eldest || !newest) return
    try {
      const next = this.failover.onSilence(newest.permit, this.deps.clock.monotonic() - newest.sinceMs)
      if (next === 'give-up') eldest.end('silence')
      else if (next) this.add(next)
    } catch (error) {
      this.fail(error)
    }
  }

  /** From now on, the attempt is charged even if this process dies. */
  protected open(
    permit: Permit,
    { request, meter, tools, writesForHour, serviceTier, listener }: Asked,
  ): OpenAttempt<Started> {
    const { call, hold } = this
    const { clock, formats } = this.deps
    const { planned, number: attempts } = permit
    const { provider } = planned.target
    const providerFormat = formats.get(provider.format)
    assert(providerFormat, `no codec for ${provider.format}`)
    call.line.attempt = { model: planned.model.id, provider: provider.name, attempts }
    const charge: OpenCharge = {
      payer: call.payer,
      hold,
      pricing: planned.model.pricing,
      cost: planned.target.cost,
      serviceTier,
      bearsTiers: bearsTiers(planned.target),
      tools,
      writesForHour,
      meter,
      facts: { ...plannedFacts(call, request, planned), attempts, routeReason: this.reasonFor(permit) },
      permit,
      onSettled: call.onSettled,
      line: call.line,
      arrivedMonotonicMs: call.arrivedMonotonicMs,
    }
    keepRenewed(charge, clock)
    return new OpenAttempt<Started>(permit, providerFormat, charge, listener)
  }

  private goOn(failed: FailedAttempt | undefined): void {
    unwatch(this)
    try {
      const next = this.failover.next(failed)
      if (next instanceof Promise) next.then((permit) => this.use(permit)).catch((error) => this.fail(error))
      else this.use(next)
    } catch (error) {
      this.fail(error)
    }
  }

  private use(permit: Permit | undefined): void {
    if (!permit) throw withTrail(this.firstError ?? this.failover.refusal(), this.failover.trail)
    if (this.failover.hasOthers()) {
      this.dueAtMs = coarseNowMs() + LOOK_MS
      watch(this)
    }
    this.add(permit)
  }

  private add(permit: Permit): void {
    const attempt = this.begin(permit)
    this.underWay.push(attempt)
    attempt.search = this
    if (attempt.hasEnded()) this.ended(attempt)
  }

  private leave(attempt: OpenAttempt<Started>, { error, failed }: Failed): void {
    this.underWay.splice(this.underWay.indexOf(attempt), 1)
    this.firstError ??= error
    if (this.underWay.length === 0) this.goOn(failed)
    else {
      this.failover.note(failed)
      this.dueAtMs = coarseNowMs() + LOOK_MS
    }
  }

  private win(winner: OpenAttempt<Started>): void {
    unwatch(this)
    this.upstreamMs = this.deps.clock.monotonic() - this.startedMs
    if (this.underWay.length > 1) this.endOthers(winner)
    try {
      this.told.resolve(this.tell(winner))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends all attempts but the winner. One that lost to a later one counts as too slow, unless the client disconnected. */
  private endOthers(winner: OpenAttempt<Started>): void {
    const { metrics, clock } = this.deps
    for (const other of this.underWay) {
      if (other === winner) continue
      bearCost(winner.charge, other.charge, metrics)
      other.listener?.outrun()
      if (!this.call.signal.aborted && !other.result && other.sinceMs < winner.sinceMs)
        this.failover.outrun(other.permit)
      other.drop()
    }
    winner.charge.facts.routeReason = this.reasonFor(winner.permit)
    keepRenewed(winner.charge, clock)
  }

  private fail(error: unknown): void {
    unwatch(this)
    this.told.reject(error)
  }

  private reasonFor({ planned }: Permit): string {
    return routeReason(this.offer.plan, planned.model.id, this.failover.trail)
  }
}

/** A separate function, so that the closure keeps only the charge in memory. */
function keepRenewed(charge: OpenCharge, clock: Clock): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

/** Adds the likely cost of a losing call to the winner's record, since the losing call has none. */
function bearCost(winner: OpenCharge, other: OpenCharge, metrics: AttemptsDeps['metrics']): void {
  const cost = costThrownAway(other)
  metrics.thrownAway(other.facts.provider, 'outrun', cost)
  const { calls, cost: before } = winner.outrun ?? { calls: 0, cost: 0 }
  winner.outrun = { calls: calls + 1, cost: nano(before + (cost ?? 0)) }
}

/** Adds the list of attempts to the caller's error. */
function withTrail(error: GatewayError, trail: readonly AttemptNote[]): GatewayError {
  const headers = { ...error.options.headers, 'x-svc-attempts': String(trail.length) }
  if (trail.length > 0) Object.assign(headers, { 'x-svc-attempt-list': describeTrail(trail) })
  return new GatewayError(error.kind, error.message, { ...error.options, headers })
}
