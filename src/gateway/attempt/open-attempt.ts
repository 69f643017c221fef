/** One attempt under way: how to end its call, its charge, and its result. */
import type { GatewayError } from '@/chat/error'
import type { Format } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { assert } from '@/lib/assert'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { AttemptListener } from '@/telemetry/tracing'
import type { CallHandle } from '@/upstream/call-deadline'
import type { TimeoutPhase } from '@/upstream/failure'
import type { ReadingOn } from './drain-slots'

/** No answer: the caller's error if no other target answers, and the fault for the failover. */
export type Failed = { kind: 'failed'; error: GatewayError; failed: FailedAttempt }

/** A result of an attempt other than a failure; `source` is the part of it that still flows. */
export type Outcome = { kind: string; source?: { abort(): void } }

/** Made when a permit is used. Gets the result of its call. */
export class OpenAttempt<Started extends Outcome> implements CallHandle {
  /** The time limit of the call under way; undefined before there is one. */
  deadline: CallHandle['deadline'] = undefined
  /** Whether it is no longer wanted. */
  isDropped = false
  /** Reads its call on when the client leaves; undefined if the call ends then. */
  readingOn: ReadingOn | undefined = undefined
  /** Fields of the caller's body that the target was not sent. */
  leftOut: readonly string[] = []
  /** Once it has ended. */
  result: Started | Failed | undefined = undefined
  /** A bug of ours; thrown where its end is waited for. */
  error: unknown = undefined
  /** When it began, or last showed that it goes on. */
  sinceMs: number
  /** The search that waits for its end. */
  search: { ended(attempt: OpenAttempt<Started>): void } | undefined = undefined

  constructor(
    readonly permit: Permit,
    readonly providerFormat: Format,
    readonly charge: OpenCharge,
    readonly listener?: AttemptListener | undefined,
  ) {
    this.sinceMs = permit.startedMs
  }

  /** The answer that has begun; asserts that there is one. */
  get started(): Started {
    const { result } = this
    assert(result && !isFailure(result), 'only an answer that has begun goes on')
    return result
  }

  /** Its answer has begun. */
  begin(result: Started): void {
    this.permit.began()
    this.listener?.began()
    this.finish(result)
  }

  /** Its call has come to this. */
  finish(result: Started | Failed): void {
    if (isFailure(result)) this.listener?.failed(result.failed.fault)
    this.result = result
    this.tellEnd()
  }

  /** Its call has run into a bug of ours: it must not keep the slot as well. */
  crash(error: unknown): void {
    this.permit.abandoned()
    this.listener?.failed(undefined)
    this.error = error
    this.tellEnd()
  }

  hasEnded(): boolean {
    return this.result !== undefined || this.error !== undefined
  }

  /** Whether its result is no longer awaited; `client` fires when the client leaves. */
  isGivenUp(client: AbortSignal): boolean {
    return this.isDropped || (client.aborted && !this.readingOn?.isUnderWay)
  }

  /** Ends the call as having run out of one of its limits. */
  end(phase?: TimeoutPhase): void {
    this.deadline?.end(phase)
  }

  /** Ends an attempt that is no longer wanted, and discards its result. */
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

/** Whether an attempt came to nothing. */
export function isFailure<Started extends Outcome>(result: Started | Failed): result is Failed {
  return result.kind === 'failed'
}
