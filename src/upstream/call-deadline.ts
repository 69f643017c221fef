/** Ends one call to a provider: at its time limits, when its client disconnects, or when {@link CallDeadline.end} is called. */
import type { Timeouts } from '@/catalog/types'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import type { TimeoutPhase, UpstreamFailure } from './failure'

/** Gives access to the deadline of a started call, so that it can be ended from outside. */
export type CallHandle = { deadline: Pick<CallDeadline, 'end'> | undefined }

/** Lets a call continue after its client disconnected. */
export type WithoutClient = { leave(end: () => void): void }

/** The time limits of one call: until the first byte, between bytes, and in total. Connecting has its own limit (`reach.ts`). */
export class CallDeadline implements Timed {
  dueAtMs: number
  private readonly controller = new AbortController()
  private readonly totalAtMs: number
  private phase: TimeoutPhase | undefined
  private hasBegun = false
  private tellOvertime: ((failure: UpstreamFailure) => void) | undefined

  /** Starts the time limits. With `readingOn`, the call continues after a disconnect; `readingOn` gets a function that ends it. */
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

  /** Starts waiting for bytes: from now on silence counts against the provider. */
  waits(): void {
    if (this.hasBegun) this.dueAtMs = Math.min(this.totalAtMs, dueIn(this.limits.idleMs))
  }

  /** Bytes arrived. While nobody waits for bytes (because of a slow client), silence doesn't count. */
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

  handleEvent(): void {
    if (this.readingOn) this.readingOn.leave(() => this.abort())
    else this.abort()
  }

  /** The limit that ended the call; undefined if none did. */
  failure(): UpstreamFailure | undefined {
    return this.phase && { kind: 'timeout', phase: this.phase }
  }

  outliveClient(): void {
    this.client.removeEventListener('abort', this)
  }

  /** Calls `listener` at the total time limit, even while nobody reads. */
  onOvertime(listener: (failure: UpstreamFailure) => void): void {
    this.tellOvertime = listener
  }

  abort(): void {
    this.controller.abort()
  }

  /** Ends the call: because of the time limit `phase`, or because its result is not needed. */
  end(phase?: TimeoutPhase): void {
    if (phase) this.fire(phase)
    else this.abort()
  }

  clear(): void {
    this.outliveClient()
    unwatch(this)
  }

  private fire(phase: TimeoutPhase): void {
    this.phase ??= phase
    this.abort()
  }
}
