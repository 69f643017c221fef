/** One attempt of a race: its target, its charge, how to end its call, and its state. */
import type { GatewayError } from '@/chat/error'
import type { Format } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { AttemptListener } from '@/telemetry/tracing'
import type { CallHandle } from '@/upstream/call-deadline'
import type { TimeoutPhase } from '@/upstream/failure'
import type { ReadingOn } from './drain-slots'

/** An attempt without an answer. `error` is for the caller if no other target answers; `failed` is the fault, for the failover. */
export type Failed = { error: GatewayError; failed: FailedAttempt }

/** A started answer; `source`, if any, can end its call. */
export type Answer = { kind: string; source?: { abort(): void } }

/** Its methods are called with the result of each attempt that was not dropped. */
export interface Judge<Started extends Answer> {
  /** An answer has begun, or there is none because the client disconnected. */
  answered(attempt: OpenAttempt<Started>, started: Started): void
  failed(attempt: OpenAttempt<Started>, failed: Failed): void
  /** An internal error. */
  crashed(error: unknown): void
}

/**
 * `calling`: the target has not answered yet. `answered`, `failed` and `crashed`: its judge has the result. `dropped`: another attempt won, so
 * nobody waits for it; its call may still be ending.
 */
type AttemptState = 'calling' | 'answered' | 'failed' | 'crashed' | 'dropped'

/** An attempt is created when a permit is used. It gets the result of the permit's call. */
export class OpenAttempt<Started extends Answer> implements CallHandle {
  state: AttemptState = 'calling'
  /** The timeout of the current call; undefined before a call. */
  deadline: CallHandle['deadline'] = undefined
  /** Lets the call continue after the client disconnects; undefined if the call must end then. */
  readingOn: ReadingOn | undefined = undefined
  /** Fields of the caller's body that were not sent to the target. */
  leftOut: readonly string[] = []
  /** The time at which the attempt began, or last showed progress. */
  sinceMs: number

  constructor(
    readonly permit: Permit,
    readonly providerFormat: Format,
    readonly charge: OpenCharge,
    private readonly judge: Judge<Started>,
    readonly listener?: AttemptListener | undefined,
  ) {
    this.sinceMs = permit.startedMs
  }

  get isDropped(): boolean {
    return this.state === 'dropped'
  }

  /** Tells the permit and the listener that the answer has begun. */
  begin(started: Started): void {
    this.permit.began()
    this.listener?.began()
    this.answer(started)
  }

  /** Reports an answer that began, or that there is none because the client disconnected. */
  answer(started: Started): void {
    if (this.isDropped) {
      started.source?.abort()
      this.permit.ended(false)
      return
    }
    this.state = 'answered'
    this.judge.answered(this, started)
  }

  fail(failed: Failed): void {
    this.listener?.failed(failed.failed.fault)
    if (this.isDropped) return
    this.state = 'failed'
    this.judge.failed(this, failed)
  }

  crash(error: unknown): void {
    this.permit.abandoned()
    this.listener?.failed(undefined)
    if (this.isDropped) return
    this.state = 'crashed'
    this.judge.crashed(error)
  }

  /** Whether the attempt's result is no longer needed; `client` is aborted when the client disconnects. */
  isGivenUp(client: AbortSignal): boolean {
    return this.isDropped || (client.aborted && !this.readingOn?.isUnderWay)
  }

  end(phase?: TimeoutPhase): void {
    this.deadline?.end(phase)
  }

  drop(): void {
    this.state = 'dropped'
    this.end()
  }
}
