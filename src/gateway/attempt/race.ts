/**
 * The attempts of one request that are under way: one as a rule, two where the first was silent for so long that the next target
 * is asked beside it. The first content wins; the other call is ended, and costs the customer nothing.
 */

import type { Format } from '@/formats/format'
import { costThrownAway, type OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { Clock } from '@/lib/clock'
import { nano } from '@/lib/money'
import type { Journey } from '@/routing/journey/journey'
import type { Ticket } from '@/routing/journey/ticket'
import type { Tracing } from '@/telemetry/tracing'
import type { AttemptHandle, Failed } from './attempt'

/** What an attempt may come to, beside a failure. */
export type Outcome = { kind: string }

/** One attempt under way, or ended where it has a `result`. */
export type Entrant<Begun extends Outcome> = {
  ticket: Ticket
  providerFormat: Format
  charge: OpenCharge
  handle: AttemptHandle
  /** When it began, or last showed that it goes on. */
  sinceMs: number
  /** Rids us of what it came to, where nobody wants that any more. */
  discard: (begun: Begun) => void
  result: Begun | Failed | undefined
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
export function enter<Begun extends Outcome>(
  facts: Omit<Entrant<Begun>, 'result' | 'error' | 'onEnd'>,
  running: Promise<Begun | Failed>,
): Entrant<Begun> {
  const entrant: Entrant<Begun> = { ...facts, result: undefined, onEnd: undefined }
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

type Ended<Begun extends Outcome> = Entrant<Begun> & { result: Begun | Failed }

/** Waits for the first of `entrants` to end; `begin` adds one where the journey says that another target is to be asked. */
export function firstToEnd<Begun extends Outcome>(
  entrants: Entrant<Begun>[],
  journey: Journey,
  clock: Clock,
  begin: (ticket: Ticket) => void,
): Promise<Ended<Begun>> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended<Begun>>()
  let looking: Timer | undefined
  function end(entrant: Entrant<Begun>): void {
    clearInterval(looking)
    if (entrant.result) resolve(entrant as Ended<Begun>)
    else reject(entrant.error)
  }
  function watchAll(): void {
    for (const entrant of entrants) entrant.onEnd = () => end(entrant)
  }
  const ended = entrants.find(({ result, error }) => result !== undefined || error !== undefined)
  if (ended) end(ended)
  else watchAll()
  if (!ended && journey.hasOthers()) {
    looking = setInterval(() => {
      try {
        look(entrants, journey, clock, begin)
        watchAll()
      } catch (error) {
        clearInterval(looking)
        reject(error)
      }
    }, LOOK_MS)
  }
  return promise
}

function look<Begun extends Outcome>(
  entrants: readonly Entrant<Begun>[],
  journey: Journey,
  clock: Clock,
  begin: (ticket: Ticket) => void,
): void {
  const [eldest, newest] = [entrants[0], entrants.at(-1)]
  if (!eldest || !newest) return
  const next = journey.onSilence(newest.ticket, clock.monotonic() - newest.sinceMs)
  if (next === 'give-up') eldest.handle.end('silence')
  else if (next) begin(next)
}

/**
 * Ends all but the winner. Who was outrun by a later one was silent for too long, and that is counted, unless it is the client's
 * going away that decided.
 */
export function endOthers<Begun extends Outcome>(
  entrants: readonly Entrant<Begun>[],
  winner: Entrant<Begun>,
  journey: Journey,
  hasAnswered: boolean,
  { metrics, tracing }: RaceDeps,
): void {
  for (const other of entrants) {
    if (other === winner) continue
    bearCost(winner.charge, other.charge, metrics)
    tracing?.outrun(other.charge.facts.requestId, other.ticket.number)
    if (hasAnswered && !other.result && other.sinceMs < winner.sinceMs) journey.outrun(other.ticket)
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
function discard<Begun extends Outcome>({ result, ticket, discard: discardBegun }: Entrant<Begun>): void {
  if (result && !isFailure(result)) discardBegun(result)
  ticket.ended(false)
}

/** Whether an attempt came to nothing. */
export function isFailure<Begun extends Outcome>(result: Begun | Failed): result is Failed {
  return result.kind === 'failed'
}
