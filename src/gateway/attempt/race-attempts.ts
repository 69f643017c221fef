/**
 * Runs the attempts of one request until one has an answer. Attempts run one at a time, but if one is silent for too long, the next target
 * is called in parallel. The first content wins. The customer doesn't pay for the other call.
 */
import { bearsTiers } from '@/catalog/priceable'
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import { costThrownAway, type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Hold } from '@/gateway/hold/hold'
import { type ArrivedRequest, plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import { coarseNowMs, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptNote } from '@/routing/failover/failover-state'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { Plan } from '@/routing/plan/plan'
import { describeTrail, routeReason } from '@/routing/route-reason'
import type { AttemptListener } from '@/telemetry/tracing'
import { type Answer, type Failed, type Judge, OpenAttempt } from './open-attempt'

type RaceDeps = {
  clock: Clock
  formats: ReadonlyMap<FormatName, Format>
  /** Counts calls that lost to a faster one. */
  metrics: Pick<SettleDeps['metrics'], 'thrownAway'>
}

type RaceCall = Omit<ArrivedRequest, 'asked'> &
  Pick<OpenCharge, 'line' | 'onSettled' | 'arrivedMonotonicMs'> & { signal: AbortSignal }

/** A request whose hold is reserved, and its targets. */
type Entry<Started extends Answer> = {
  deps: RaceDeps
  call: RaceCall
  hold: Hold
  plan: Plan
  failover: Failover
  /** Opens an attempt in the race, and starts its call. */
  begin(permit: Permit, race: Race<Started>): void
}

/** The first attempt with an answer. */
export type Winner<Started extends Answer> = {
  attempt: OpenAttempt<Started>
  started: Started
  /** Milliseconds spent waiting for upstreams until the first answer. */
  upstreamMs: number
}

/** The parts of a charge that depend on the request. */
type Asked = Pick<OpenCharge, 'tools' | 'writesForHour' | 'serviceTier' | 'meter'> & {
  request: Parameters<typeof plannedFacts>[1]
  listener: AttemptListener | undefined
}

/** How often to check whether an attempt has been silent for too long. */
const LOOK_MS = 250

/** Calls targets until one answers. Rejects if none does, with the error of the first target. */
export function raceAttempts<Started extends Answer>(entry: Entry<Started>): Promise<Winner<Started>> {
  const race = new RunningRace(entry)
  race.goOn(undefined)
  return race.won.promise
}

export type Race<Started extends Answer> = Pick<RunningRace<Started>, 'open'>

class RunningRace<Started extends Answer> implements Judge<Started>, Timed {
  dueAtMs = Number.POSITIVE_INFINITY
  readonly won = Promise.withResolvers<Winner<Started>>()
  private readonly startedMs: number
  private readonly underWay: OpenAttempt<Started>[] = []
  private firstError: GatewayError | undefined

  constructor(private readonly entry: Entry<Started>) {
    this.startedMs = entry.deps.clock.monotonic()
  }

  /** Opens an attempt. From now on its cost is charged, even if this process dies. */
  open(permit: Permit, { request, meter, tools, writesForHour, serviceTier, listener }: Asked): OpenAttempt<Started> {
    const { call, hold, deps } = this.entry
    const { planned, number: attempts } = permit
    const { provider } = planned.target
    const providerFormat = deps.formats.get(provider.format)
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
      facts: plannedFacts(call, request, permit, this.reasonFor(permit), this.entry.plan.data),
      permit,
      onSettled: call.onSettled,
      line: call.line,
      arrivedMonotonicMs: call.arrivedMonotonicMs,
    }
    keepRenewed(charge, deps.clock)
    const attempt = new OpenAttempt<Started>(permit, providerFormat, charge, this, listener)
    this.underWay.push(attempt)
    return attempt
  }

  goOn(failed: FailedAttempt | undefined): void {
    unwatch(this)
    try {
      const next = this.entry.failover.next(failed)
      if (next instanceof Promise) next.then((permit) => this.use(permit)).catch((error) => this.crashed(error))
      else this.use(next)
    } catch (error) {
      this.crashed(error)
    }
  }

  answered(winner: OpenAttempt<Started>, started: Started): void {
    const { clock } = this.entry.deps
    unwatch(this)
    const upstreamMs = clock.monotonic() - this.startedMs
    if (this.underWay.length > 1) this.endOthers(winner)
    this.won.resolve({ attempt: winner, started, upstreamMs })
  }

  failed(attempt: OpenAttempt<Started>, { error, failed }: Failed): void {
    this.underWay.splice(this.underWay.indexOf(attempt), 1)
    this.firstError ??= error
    if (this.underWay.length === 0) this.goOn(failed)
    else {
      this.entry.failover.note(failed)
      this.dueAtMs = coarseNowMs() + LOOK_MS
    }
  }

  crashed(error: unknown): void {
    unwatch(this)
    this.won.reject(error)
  }

  /** Checks whether the attempts have been silent for too long. */
  onDue(): void {
    this.dueAtMs = coarseNowMs() + LOOK_MS
    const { deps, failover } = this.entry
    const [eldest] = this.underWay
    const newest = this.underWay.at(-1)
    if (!eldest || !newest) return
    try {
      const next = failover.onSilence(newest.permit, deps.clock.monotonic() - newest.sinceMs)
      if (next === 'give-up') eldest.end('silence')
      else if (next) this.entry.begin(next, this)
    } catch (error) {
      this.crashed(error)
    }
  }

  private use(permit: Permit | undefined): void {
    const { failover } = this.entry
    if (!permit) throw withTrail(this.firstError ?? failover.refusal(), failover.trail)
    if (failover.hasOthers()) {
      this.dueAtMs = coarseNowMs() + LOOK_MS
      watch(this)
    }
    this.entry.begin(permit, this)
  }

  /** Ends all attempts but the winner. If the winner began later, the loser counts as too slow, unless the client disconnected. */
  private endOthers(winner: OpenAttempt<Started>): void {
    const { deps, call, failover } = this.entry
    for (const other of this.underWay) {
      if (other === winner) continue
      bearCost(winner.charge, other.charge, deps.metrics)
      other.listener?.outrun()
      if (!call.signal.aborted && other.sinceMs < winner.sinceMs) failover.outrun(other.permit)
      other.drop()
    }
    winner.charge.facts.routeReason = this.reasonFor(winner.permit)
    keepRenewed(winner.charge, deps.clock)
  }

  private reasonFor({ planned }: Permit): string {
    const { plan, failover } = this.entry
    return routeReason(plan, planned.model.id, failover.trail)
  }
}

/** A separate function, so that the closure keeps only the charge in memory. */
function keepRenewed(charge: OpenCharge, clock: Clock): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}

/** Adds the likely cost of a losing call to the winner's record, since a losing call has no record. */
function bearCost(winner: OpenCharge, other: OpenCharge, metrics: RaceDeps['metrics']): void {
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
