/** Walks the way of one request, attempt by attempt or with two beside each other, until one of them has an answer. */
import { GatewayError } from '@/chat/error'
import type { Clock } from '@/lib/clock'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptNote } from '@/routing/failover/failover-state'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import { describeTrail } from '@/routing/route-reason'
import { type Entrant, firstToEnd, isFailure, type Outcome } from './race'

/** Who has an answer first, and everybody still under way, the winner among them. */
type FirstAnswer<StartedAnswer extends Outcome> = {
  winner: Entrant<StartedAnswer>
  started: StartedAnswer
  entrants: readonly Entrant<StartedAnswer>[]
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
}

/** Finds the first answer; `beginAttempt` makes one attempt. Where there is none, throws what the first target said. */
export async function firstAnswer<StartedAnswer extends Outcome>(
  { clock }: { clock: Clock },
  failover: Failover,
  beginAttempt: (permit: Permit) => Entrant<StartedAnswer>,
): Promise<FirstAnswer<StartedAnswer>> {
  const startedMs = clock.monotonic()
  const entrants: Entrant<StartedAnswer>[] = []
  const begin = (permit: Permit) => void entrants.push(beginAttempt(permit))
  let firstError: GatewayError | undefined
  let failed: FailedAttempt | undefined
  for (;;) {
    if (entrants.length === 0) {
      const next = failover.next(failed)
      const permit = next instanceof Promise ? await next : next
      if (!permit) throw withTrail(firstError ?? failover.refusal(), failover.trail)
      begin(permit)
    } else if (failed) failover.note(failed)
    failed = undefined
    const winner = await firstToEnd(entrants, failover, clock, begin)
    const { result } = winner
    if (!isFailure(result)) return { winner, started: result, entrants, upstreamMs: clock.monotonic() - startedMs }
    entrants.splice(entrants.indexOf(winner), 1)
    firstError ??= result.error
    failed = result.failed
  }
}

/** Tells a caller who got no answer what was tried. */
function withTrail(error: GatewayError, trail: readonly AttemptNote[]): GatewayError {
  const headers = { ...error.options.headers, 'x-svc-attempts': String(trail.length) }
  if (trail.length > 0) Object.assign(headers, { 'x-svc-attempt-list': describeTrail(trail) })
  return new GatewayError(error.kind, error.message, { ...error.options, headers })
}
