/** The attempts of one request at the targets of its plan: what is the same for all of them, whatever is asked for. */
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import type { Meter } from '@/gateway/charge/meter'
import { type OpenCharge, progressOf } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import { type ArrivedRequest, plannedFacts } from '@/gateway/hold/request-facts'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import type { Plan } from '@/routing/plan/plan'
import { routeReason } from '@/routing/route-reason'
import type { AttemptListener } from '@/telemetry/tracing'
import type { Attempts } from './first-answer'
import { OpenAttempt, type Outcome } from './open-attempt'

/** Who asks, and is told how it ends. */
type Call = Omit<ArrivedRequest, 'asked'> & Pick<OpenCharge, 'line' | 'onSettled' | 'arrivedMonotonicMs'>

/** What of a charge differs with what is asked for. */
type Asked = Pick<OpenCharge, 'tools' | 'writesForHour'> & {
  request: { model: string; stream: boolean }
  meter: Meter
  listener: AttemptListener | undefined
}

/** A subclass for each use says how one is made. */
export abstract class PlannedAttempts<
  Started extends Outcome,
  Deps extends { clock: Clock; formats: ReadonlyMap<FormatName, Format> },
  Asking extends Call,
  Offered extends { plan: Plan },
> implements Attempts<Started>
{
  constructor(
    protected readonly deps: Deps,
    protected readonly call: Asking,
    protected readonly hold: Hold,
    protected readonly offer: Offered,
    private readonly failover: Failover,
  ) {}

  abstract begin(permit: Permit): OpenAttempt<Started>

  outran({ charge, permit }: OpenAttempt<Started>): void {
    charge.facts.routeReason = this.reasonFor(permit)
    keepRenewed(charge, this.deps.clock)
  }

  /** From now on the books hear of this attempt, should this process die. */
  protected open(permit: Permit, { request, meter, tools, writesForHour, listener }: Asked): OpenAttempt<Started> {
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
    return new OpenAttempt<Started>(permit, providerFormat, charge, clock.monotonic(), listener)
  }

  private reasonFor({ planned }: Permit): string {
    return routeReason(this.offer.plan, planned.model.id, this.failover.trail)
  }
}

/** Alone in a function, so that the renewal keeps the charge and nothing else of what its caller has. */
function keepRenewed(charge: OpenCharge, clock: Clock): void {
  charge.hold.onRenewal(() => progressOf(charge, clock))
}
