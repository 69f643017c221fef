/** An attempt in progress: how to end its call, its charge, and its result. */
import type { GatewayError } from '@/chat/error'
import type { Format } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { assert } from '@/lib/assert'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { AttemptListener } from '@/telemetry/tracing'
import type { CallHandle } from '@/upstream/call-deadline'
import type { TimeoutPhase } from '@/upstream/failure'
import type { ReadingOn } from './drain-slots'

/** The result of an attempt without an answer: the caller's error if no other target answers, and the fault for the failover. */
export type Failed = { kind: 'failed'; error: GatewayError; failed: FailedAttempt }

export type Outcome = { kind: string; source?: { abort(): void } }

/** An attempt is created when a permit is used. It gets the result of the permit's call. */
export class OpenAttempt<Started extends Outcome> implements CallHandle {
  /** The timeout of the current call; undefined before a call. */
  deadline: CallHandle['deadline'] = undefined
  isDropped = false
  /** Lets the call continue after the client disconnects; undefined if the call must end then. */
  readingOn: ReadingOn | undefined = undefined
  /** Fields of the caller's body that the target was not sent. */
  leftOut: readonly string[] = []
  result: Started | Failed | undefined = undefined
  /** An internal error, which is thrown to the code that waits for the result. */
  error: unknown = undefined
  /** The time at which the attempt began, or last showed progress. */
  sinceMs: number
  /** The search that waits for the attempt's result. */
  search: { ended(attempt: OpenAttempt<Started>): void } | undefined = undefined

  constructor(
    readonly permit: Permit,
    readonly providerFormat: Format,
    readonly charge: OpenCharge,
    readonly listener?: AttemptListener | undefined,
  ) {
    this.sinceMs = permit.startedMs
  }

  get started(): Started {
    const { result } = this
    assert(result && !isFailure(result), 'only an answer that has begun goes on')
    return result
  }

  begin(result: Started): void {
    this.permit.began()
    this.listener?.began()
    this.finish(result)
  }

  finish(result: Started | Failed): void {
    if (isFailure(result)) this.listener?.failed(result.failed.fault)
    this.result = result
    this.tellEnd()
  }

  crash(error: unknown): void {
    this.permit.abandoned()
    this.listener?.failed(undefined)
    this.error = error
    this.tellEnd()
  }

  hasEnded(): boolean {
    return this.result !== undefined || this.error !== undefined
  }

  /** Whether its result is no longer awaited; `client` fires when the client disconnects. */
  isGivenUp(client: AbortSignal): boolean {
    return this.isDropped || (client.aborted && !this.readingOn?.isUnderWay)
  }

  end(phase?: TimeoutPhase): void {
    this.deadline?.end(phase)
  }

  drop(): void {
    const hadEnded = this.hasEnded()
    this.isDropped = true
    this.end()
    if (hadEnded) discard(this)
  }

  private tellEnd(): void {
    const { search } = this
    this.search = undefined
    if (this.isDropped) discard(this)
    else search?.ended(this)
  }
}

function discard<Started extends Outcome>({ result, permit }: OpenAttempt<Started>): void {
  if (result && !isFailure(result)) result.source?.abort()
  permit.ended(false)
}

/** Whether the result is a failed attempt. */
export function isFailure<Started extends Outcome>(result: Started | Failed): result is Failed {
  return result.kind === 'failed'
}
