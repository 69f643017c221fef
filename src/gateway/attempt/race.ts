/**
 * The attempts of one request that are under way: one as a rule, two where the first was silent for so long that the next target
 * is asked beside it. The first content wins; the other call is ended, and costs the customer nothing.
 */
import { costThrownAway, type OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import { coarseNowMs, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import type { Tracing } from '@/telemetry/tracing'
import type { Failed, OpenAttempt, Outcome } from './open-attempt'

/** Who is told of calls that were outrun. */
type RaceDeps = { metrics: Pick<SettleDeps['metrics'], 'thrownAway'>; tracing?: Tracing | undefined }

/** How often it is looked whether silence has grown too long. */
const LOOK_MS = 250

type Ended<Started extends Outcome> = OpenAttempt<Started> & { result: Started | Failed }

/** Waits for the first of `attempts` to end; `begin` adds one where the failover says that another target is to be asked. */
export function firstToEnd<Started extends Outcome>(
  attempts: OpenAttempt<Started>[],
  failover: Failover,
  clock: Clock,
  begin: (permit: Permit) => void,
): Promise<Ended<Started>> {
  return new Race(attempts, failover, clock, begin).winner
}

class Race<Started extends Outcome> implements Timed {
  readonly winner: Promise<Ended<Started>>
  dueAtMs = coarseNowMs() + LOOK_MS
  private readonly resolve: (ended: Ended<Started>) => void
  private readonly reject: (error: unknown) => void

  constructor(
    private readonly attempts: readonly OpenAttempt<Started>[],
    private readonly failover: Failover,
    private readonly clock: Clock,
    private readonly begin: (permit: Permit) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Ended<Started>>()
    this.winner = promise
    this.resolve = resolve
    this.reject = reject
    const ended = attempts.find((attempt) => attempt.hasEnded())
    if (ended) this.end(ended)
    else this.followAll()
    if (!ended && failover.hasOthers()) watch(this)
  }

  /** Looks whether silence has grown too long. */
  onDue(): void {
    this.dueAtMs = coarseNowMs() + LOOK_MS
    try {
      this.look()
      this.followAll()
    } catch (error) {
      unwatch(this)
      this.reject(error)
    }
  }

  private followAll(): void {
    const onEnd = (attempt: OpenAttempt<Started>) => this.end(attempt)
    for (const attempt of this.attempts) attempt.onEnd = onEnd
  }

  private end(attempt: OpenAttempt<Started>): void {
    unwatch(this)
    if (attempt.result) this.resolve(attempt as Ended<Started>)
    else this.reject(attempt.error)
  }

  private look(): void {
    const [eldest, newest] = [this.attempts[0], this.attempts.at(-1)]
    if (!eldest || !newest) return
    const next = this.failover.onSilence(newest.permit, this.clock.monotonic() - newest.sinceMs)
    if (next === 'give-up') eldest.end('silence')
    else if (next) this.begin(next)
  }
}

/**
 * Ends all but the winner. Who was outrun by a later one was silent for too long, and that is counted, unless it is the client's
 * going away that decided.
 */
export function endOthers<Started extends Outcome>(
  attempts: readonly OpenAttempt<Started>[],
  winner: OpenAttempt<Started>,
  failover: Failover,
  hasAnswered: boolean,
  { metrics, tracing }: RaceDeps,
): void {
  for (const other of attempts) {
    if (other === winner) continue
    bearCost(winner.charge, other.charge, metrics)
    tracing?.outrun(other.charge.facts.requestId, other.permit.number)
    if (hasAnswered && !other.result && other.sinceMs < winner.sinceMs) failover.outrun(other.permit)
    other.drop()
  }
}

/** What an outrun call may cost us is a cost of the answer that the customer pays for: it has no record of its own. */
function bearCost(winner: OpenCharge, other: OpenCharge, metrics: RaceDeps['metrics']): void {
  const cost = costThrownAway(other)
  metrics.thrownAway(other.facts.provider, 'outrun', cost)
  const { calls, cost: before } = winner.outrun ?? { calls: 0, cost: 0 }
  winner.outrun = { calls: calls + 1, cost: nano(before + (cost ?? 0)) }
}
