/**
 * The attempts of one request that are under way: one as a rule, two where the first was silent for so long that the next target
 * is asked beside it. The first content wins; the other call is ended, and costs the customer nothing.
 */

import type { Format } from '@/formats/format'
import { costThrownAway, type OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import type { Failover } from '@/routing/failover/failover'
import type { Permit } from '@/routing/failover/permit'
import type { Tracing } from '@/telemetry/tracing'
import type { AttemptHandle, Failed } from './attempt'

/** What an attempt may come to, beside a failure. */
export type Outcome = { kind: string }

/** One attempt under way, or ended where it has a `result`. */
export type Entrant<StartedAnswer extends Outcome> = {
  permit: Permit
  providerFormat: Format
  charge: OpenCharge
  handle: AttemptHandle
  /** When it began, or last showed that it goes on. */
  sinceMs: number
  /** Rids us of what it came to, where nobody wants that any more. */
  discard: (started: StartedAnswer) => void
  result: StartedAnswer | Failed | undefined
  /** A bug of ours; thrown where the race is waited for. */
  error?: unknown
  /** Called when it has ended. */
  onEnd: (() => void) | undefined
}

/** Who is told of calls that were outrun. */
type RaceDeps = { metrics: Pick<SettleDeps['metrics'], 'thrownAway'>; tracing?: Tracing | undefined }

/** How often it is looked whether silence has grown too long. */
const LOOK_MS = 250

/** Counts an attempt in; `running` never rejects unless there is a bug. */
export function enter<StartedAnswer extends Outcome>(
  facts: Omit<Entrant<StartedAnswer>, 'result' | 'error' | 'onEnd'>,
  running: Promise<StartedAnswer | Failed>,
): Entrant<StartedAnswer> {
  const entrant: Entrant<StartedAnswer> = { ...facts, result: undefined, onEnd: undefined }
  running.then(
    (result) => {
      entrant.result = result
      entrant.onEnd?.()
    },
    (error: unknown) => {
      entrant.error = error
      entrant.onEnd?.()
    },
  )
  return entrant
}

type Ended<StartedAnswer extends Outcome> = Entrant<StartedAnswer> & { result: StartedAnswer | Failed }

/** Waits for the first of `entrants` to end; `begin` adds one where the failover says that another target is to be asked. */
export function firstToEnd<StartedAnswer extends Outcome>(
  entrants: Entrant<StartedAnswer>[],
  failover: Failover,
  clock: Clock,
  begin: (permit: Permit) => void,
): Promise<Ended<StartedAnswer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended<StartedAnswer>>()
  let looking: Timer | undefined
  function end(entrant: Entrant<StartedAnswer>): void {
    clearInterval(looking)
    if (entrant.result) resolve(entrant as Ended<StartedAnswer>)
    else reject(entrant.error)
  }
  function watchAll(): void {
    for (const entrant of entrants) entrant.onEnd = () => end(entrant)
  }
  const ended = entrants.find(({ result, error }) => result !== undefined || error !== undefined)
  if (ended) end(ended)
  else watchAll()
  if (!ended && failover.hasOthers()) {
    looking = setInterval(() => {
      try {
        look(entrants, failover, clock, begin)
        watchAll()
      } catch (error) {
        clearInterval(looking)
        reject(error)
      }
    }, LOOK_MS)
  }
  return promise
}

function look<StartedAnswer extends Outcome>(
  entrants: readonly Entrant<StartedAnswer>[],
  failover: Failover,
  clock: Clock,
  begin: (permit: Permit) => void,
): void {
  const [eldest, newest] = [entrants[0], entrants.at(-1)]
  if (!eldest || !newest) return
  const next = failover.onSilence(newest.permit, clock.monotonic() - newest.sinceMs)
  if (next === 'give-up') eldest.handle.end('silence')
  else if (next) begin(next)
}

/**
 * Ends all but the winner. Who was outrun by a later one was silent for too long, and that is counted, unless it is the client's
 * going away that decided.
 */
export function endOthers<StartedAnswer extends Outcome>(
  entrants: readonly Entrant<StartedAnswer>[],
  winner: Entrant<StartedAnswer>,
  failover: Failover,
  hasAnswered: boolean,
  { metrics, tracing }: RaceDeps,
): void {
  for (const other of entrants) {
    if (other === winner) continue
    bearCost(winner.charge, other.charge, metrics)
    tracing?.outrun(other.charge.facts.requestId, other.permit.number)
    if (hasAnswered && !other.result && other.sinceMs < winner.sinceMs) failover.outrun(other.permit)
    other.handle.drop()
    other.onEnd = () => discard(other)
    if (other.result) discard(other)
  }
}

/** What an outrun call may cost us is a cost of the answer that the customer pays for: it has no record of its own. */
function bearCost(winner: OpenCharge, other: OpenCharge, metrics: RaceDeps['metrics']): void {
  const cost = costThrownAway(other)
  metrics.thrownAway(other.facts.provider, 'outrun', cost)
  const { calls, cost: before } = winner.outrun ?? { calls: 0, cost: 0 }
  winner.outrun = { calls: calls + 1, cost: nano(before + (cost ?? 0)) }
}

/** What came in the same moment as the winner's content. */
function discard<StartedAnswer extends Outcome>({
  result,
  permit,
  discard: discardAnswer,
}: Entrant<StartedAnswer>): void {
  if (result && !isFailure(result)) discardAnswer(result)
  permit.ended(false)
}

/** Whether an attempt came to nothing. */
export function isFailure<StartedAnswer extends Outcome>(result: StartedAnswer | Failed): result is Failed {
  return result.kind === 'failed'
}
