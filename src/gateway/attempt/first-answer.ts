/** Walks the way of one request, attempt by attempt or with two beside each other, until one of them has an answer. */
import { GatewayError } from '@/chat/error'
import type { Clock } from '@/lib/clock'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptNote } from '@/routing/failover/failover-state'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import { describeTrail } from '@/routing/route-reason'
import { isFailure, type OpenAttempt, type Outcome } from './open-attempt'
import { endOthers, firstToEnd } from './race'

type FirstAnswerDeps = { clock: Clock } & Parameters<typeof endOthers>[4]

/** The attempt that has an answer first, and what has begun of it. */
export type FirstAnswer<Started extends Outcome> = {
  winner: OpenAttempt<Started>
  started: Started
  /** Milliseconds spent waiting for upstreams until then. */
  upstreamMs: number
  /** Whether others were under way beside it, which are ended. */
  hasOutrun: boolean
}

/** Finds the first answer; `beginAttempt` makes one attempt. Where there is none, throws what the first target said. */
export async function firstAnswer<Started extends Outcome>(
  deps: FirstAnswerDeps,
  failover: Failover,
  signal: AbortSignal,
  beginAttempt: (permit: Permit) => OpenAttempt<Started>,
): Promise<FirstAnswer<Started>> {
  const { clock } = deps
  const startedMs = clock.monotonic()
  const attempts: OpenAttempt<Started>[] = []
  const begin = (permit: Permit) => void attempts.push(beginAttempt(permit))
  let firstError: GatewayError | undefined
  let failed: FailedAttempt | undefined
  for (;;) {
    if (attempts.length === 0) {
      const next = failover.next(failed)
      const permit = next instanceof Promise ? await next : next
      if (!permit) throw withTrail(firstError ?? failover.refusal(), failover.trail)
      begin(permit)
    } else if (failed) failover.note(failed)
    failed = undefined
    const winner = await firstToEnd(attempts, failover, clock, begin)
    const { result } = winner
    if (!isFailure(result)) {
      const upstreamMs = clock.monotonic() - startedMs
      const hasOutrun = attempts.length > 1
      if (hasOutrun) endOthers(attempts, winner, failover, !signal.aborted, deps)
      return { winner, started: result, upstreamMs, hasOutrun }
    }
    attempts.splice(attempts.indexOf(winner), 1)
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
