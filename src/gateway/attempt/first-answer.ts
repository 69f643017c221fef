/** Walks the way of one request, attempt by attempt or with two beside each other, until one of them has an answer. */
import { GatewayError } from '@/chat/error'
import type { Clock } from '@/lib/clock'
import type { Journey } from '@/routing/journey/journey'
import type { AttemptNote } from '@/routing/journey/journey-state'
import type { FailedAttempt, Ticket } from '@/routing/journey/ticket'
import { describeTrail } from '@/routing/route-reason'
import { type Entrant, firstToEnd, isFailure, type Outcome } from './race'

/** Who has an answer first, and everybody still under way, the winner among them. */
type FirstAnswer<Begun extends Outcome> = {
  winner: Entrant<Begun>
  begun: Begun
  entrants: readonly Entrant<Begun>[]
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
}

/** Finds the first answer; `beginAttempt` makes one attempt. Where there is none, throws what the first target said. */
export async function firstAnswer<Begun extends Outcome>(
  { clock }: { clock: Clock },
  journey: Journey,
  beginAttempt: (ticket: Ticket) => Entrant<Begun>,
): Promise<FirstAnswer<Begun>> {
  const startedMs = clock.monotonic()
  const entrants: Entrant<Begun>[] = []
  const begin = (ticket: Ticket) => void entrants.push(beginAttempt(ticket))
  let firstError: GatewayError | undefined
  let failed: FailedAttempt | undefined
  for (;;) {
    if (entrants.length === 0) {
      const next = journey.next(failed)
      const ticket = next instanceof Promise ? await next : next
      if (!ticket) throw withTrail(firstError ?? journey.refusal(), journey.trail)
      begin(ticket)
    } else if (failed) journey.note(failed)
    failed = undefined
    const winner = await firstToEnd(entrants, journey, clock, begin)
    const { result } = winner
    if (!isFailure(result)) return { winner, begun: result, entrants, upstreamMs: clock.monotonic() - startedMs }
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
