/** What ends one call to a provider: its time limits, its client's leaving, or its caller. */
import type { Timeouts } from '@/catalog/types'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { TimeoutPhase, UpstreamFailure } from './failure'

/** Gives access to the deadline of a started call, so that it can be ended from outside. */
export type CallHandle = { deadline: Pick<CallDeadline, 'end'> | undefined }

/** Lets calls go on without their clients. */
export type WithoutClient = { leave(end: () => void): void }

/** The limits over one call: until the first byte, between bytes, and over everything. To connect has a watch of its own (`reach.ts`). */
export class CallDeadline implements Timed {
  dueAtMs: number
  private readonly controller = new AbortController()
  private readonly totalAtMs: number
  private phase: TimeoutPhase | undefined
  private hasBegun = false
  private tellOvertime: ((failure: UpstreamFailure) => void) | undefined

  /** Runs from now on. When the client goes away, `readingOn` gets the way to end the call, and the call goes on. */
  constructor(
    private readonly limits: Timeouts,
    private readonly client: AbortSignal,
    private readonly readingOn?: WithoutClient,
  ) {
    this.totalAtMs = dueIn(limits.totalMs)
    this.dueAtMs = Math.min(this.totalAtMs, dueIn(limits.firstByteMs))
    if (client.aborted) this.abort()
    client.addEventListener('abort', this)
    watch(this)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** The next bytes are awaited: from now on silence counts against the provider. */
  waits(): void {
    if (this.hasBegun) this.dueAtMs = Math.min(this.totalAtMs, dueIn(this.limits.idleMs))
  }

  /** They came. While nobody waits (a slow client holds us back) silence counts against no target. */
  received(): void {
    this.hasBegun = true
    this.dueAtMs = this.totalAtMs
  }

  onDue(): void {
    unwatch(this)
    if (this.dueAtMs < this.totalAtMs) this.fire(this.hasBegun ? 'idle' : 'first-byte')
    else {
      this.fire('total')
      this.tellOvertime?.({ kind: 'timeout', phase: 'total' })
    }
  }

  /** The client has gone. */
  handleEvent(): void {
    if (this.readingOn) this.readingOn.leave(() => this.abort())
    else this.abort()
  }

  /** Which limit ended the call; undefined if none did. */
  failure(): UpstreamFailure | undefined {
    return this.phase && { kind: 'timeout', phase: this.phase }
  }

  /** From now on the client's signal does not count. */
  outliveClient(): void {
    this.client.removeEventListener('abort', this)
  }

  /** Called when all the time is over, also while nobody reads. */
  onOvertime(listener: (failure: UpstreamFailure) => void): void {
    this.tellOvertime = listener
  }

  abort(): void {
    this.controller.abort()
  }

  /** Ends the call: as one that is no longer wanted, or as having run out of one of its limits. */
  end(phase?: TimeoutPhase): void {
    if (phase) this.fire(phase)
    else this.abort()
  }

  /** The call is over. */
  clear(): void {
    this.outliveClient()
    unwatch(this)
  }

  private fire(phase: TimeoutPhase): void {
    this.phase ??= phase
    this.abort()
  }
}
