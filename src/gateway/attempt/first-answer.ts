/**
 * The attempts of one request until one of them has an answer: one at a time as a rule, two where the first was silent for so long that
 * the next target is asked beside it. The first content wins; the other call is ended, and costs the customer nothing.
 */
import { GatewayError } from '@/chat/error'
import { costThrownAway, type OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import { coarseNowMs, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptNote } from '@/routing/failover/failover-state'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import { describeTrail } from '@/routing/route-reason'
import { type Failed, isFailure, type OpenAttempt, type Outcome } from './open-attempt'

type FirstAnswerDeps = {
  clock: Clock
  /** Told of calls that were outrun. */
  metrics: Pick<SettleDeps['metrics'], 'thrownAway'>
}

/** The attempt that has an answer first, and what has begun of it. */
export type FirstAnswer<Started extends Outcome> = {
  winner: OpenAttempt<Started>
  started: Started
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
}

/** How attempts of a request are made. */
export interface Attempts<Started extends Outcome> {
  begin(permit: Permit): OpenAttempt<Started>
  /** Others were under way beside the winner, which are ended. */
  outran(winner: OpenAttempt<Started>): void
}

/** How often it is looked whether silence has grown too long. */
const LOOK_MS = 250

/** Finds the first answer. Where there is none, throws what the first target said. */
export function firstAnswer<Started extends Outcome>(
  deps: FirstAnswerDeps,
  failover: Failover,
  signal: AbortSignal,
  attempts: Attempts<Started>,
): Promise<FirstAnswer<Started>> {
  return new Search(deps, failover, signal, attempts).found.promise
}

class Search<Started extends Outcome> implements Timed {
  readonly found = Promise.withResolvers<FirstAnswer<Started>>()
  dueAtMs = Number.POSITIVE_INFINITY
  private readonly startedMs: number
  private readonly underWay: OpenAttempt<Started>[] = []
  private firstError: GatewayError | undefined

  constructor(
    private readonly deps: FirstAnswerDeps,
    private readonly failover: Failover,
    private readonly signal: AbortSignal,
    private readonly attempts: Attempts<Started>,
  ) {
    this.startedMs = deps.clock.monotonic()
    this.goOn(undefined)
  }

  /** An attempt has ended. Never throws. */
  ended(attempt: OpenAttempt<Started>): void {
    const { result, error } = attempt
    if (!result) this.fail(error)
    else if (isFailure(result)) this.leave(attempt, result)
    else this.win(attempt, result)
  }

  /** Looks whether silence has grown too long. */
  onDue(): void {
    this.dueAtMs = coarseNowMs() + LOOK_MS
    const [eldest] = this.underWay
    const newest = this.underWay.at(-1)
    if (!eldest || !newest) return
    try {
      const next = this.failover.onSilence(newest.permit, this.deps.clock.monotonic() - newest.sinceMs)
      if (next === 'give-up') eldest.end('silence')
      else if (next) this.begin(next)
    } catch (error) {
      this.fail(error)
    }
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

  private goOn(failed: FailedAttempt | undefined): void {
    unwatch(this)
    try {
      const next = this.failover.next(failed)
      if (next instanceof Promise) next.then((permit) => this.open(permit)).catch((error) => this.fail(error))
      else this.open(next)
    } catch (error) {
      this.fail(error)
    }
  }

  private open(permit: Permit | undefined): void {
    if (!permit) throw withTrail(this.firstError ?? this.failover.refusal(), this.failover.trail)
    if (this.failover.hasOthers()) {
      this.dueAtMs = coarseNowMs() + LOOK_MS
      watch(this)
    }
    this.begin(permit)
  }

  private begin(permit: Permit): void {
    const attempt = this.attempts.begin(permit)
    this.underWay.push(attempt)
    attempt.search = this
    if (attempt.hasEnded()) this.ended(attempt)
  }

  private win(winner: OpenAttempt<Started>, started: Started): void {
    unwatch(this)
    const upstreamMs = this.deps.clock.monotonic() - this.startedMs
    if (this.underWay.length > 1) {
      endOthers(this.underWay, winner, this.failover, !this.signal.aborted, this.deps)
      this.attempts.outran(winner)
    }
    this.found.resolve({ winner, started, upstreamMs })
  }

  private fail(error: unknown): void {
    unwatch(this)
    this.found.reject(error)
  }
}

/**
 * Ends all but the winner. Who was outrun by a later one was silent for too long, and that is counted, unless it is the client's
 * going away that decided.
 */
function endOthers<Started extends Outcome>(
  attempts: readonly OpenAttempt<Started>[],
  winner: OpenAttempt<Started>,
  failover: Failover,
  hasAnswered: boolean,
  { metrics }: FirstAnswerDeps,
): void {
  for (const other of attempts) {
    if (other === winner) continue
    bearCost(winner.charge, other.charge, metrics)
    other.listener?.outrun()
    if (hasAnswered && !other.result && other.sinceMs < winner.sinceMs) failover.outrun(other.permit)
    other.drop()
  }
}

/** What an outrun call may cost us is a cost of the answer that the customer pays for: it has no record of its own. */
function bearCost(winner: OpenCharge, other: OpenCharge, metrics: FirstAnswerDeps['metrics']): void {
  const cost = costThrownAway(other)
  metrics.thrownAway(other.facts.provider, 'outrun', cost)
  const { calls, cost: before } = winner.outrun ?? { calls: 0, cost: 0 }
  winner.outrun = { calls: calls + 1, cost: nano(before + (cost ?? 0)) }
}

/** Tells a caller who got no answer what was tried. */
function withTrail(error: GatewayError, trail: readonly AttemptNote[]): GatewayError {
  const headers = { ...error.options.headers, 'x-svc-attempts': String(trail.length) }
  if (trail.length > 0) Object.assign(headers, { 'x-svc-attempt-list': describeTrail(trail) })
  return new GatewayError(error.kind, error.message, { ...error.options, headers })
}
