/** What ends one call to a provider: its four limits, its client's leaving, or whoever wants it no more. */
import type { Timeouts } from '@/catalog/types'
import type { TimeoutPhase, UpstreamFailure } from './failure'

/** The limits over one call; see {@link createDeadline}. */
export type Deadline = {
  signal: AbortSignal
  /** Somebody waits for the next bytes: from now on silence counts against the provider. */
  waits(): void
  /** They came. While nobody waits (a slow client holds us back) silence counts against nobody. */
  received(): void
  /** Nothing takes connections at the provider's address. */
  unconnected(): void
  failure(): UpstreamFailure | undefined
  /** The client's signal no longer counts. */
  outliveClient(): void
  onOvertime(listener: (failure: UpstreamFailure) => void): void
  abort(): void
  end(phase?: TimeoutPhase): void
  clear(): void
}

/** The limits over one call: to connect, until the first byte, between bytes, and over everything. Each fires at its own value. */
export function createDeadline(limits: Timeouts, client: AbortSignal, leave?: (end: () => void) => void): Deadline {
  const controller = new AbortController()
  let phase: TimeoutPhase | undefined
  let isWaiting = true
  let idle: Timer | undefined
  let tellOvertime: (failure: UpstreamFailure) => void = () => undefined
  function fire(cause: TimeoutPhase): void {
    phase ??= cause
    controller.abort()
  }
  const abort = () => controller.abort()
  if (client.aborted) abort()
  const left = leave ? () => leave(abort) : abort
  client.addEventListener('abort', left)
  const total = setTimeout(() => {
    fire('total')
    tellOvertime({ kind: 'timeout', phase: 'total' })
  }, limits.totalMs)
  const firstByte = setTimeout(() => fire('first-byte'), limits.firstByteMs)
  return {
    signal: controller.signal,
    waits() {
      isWaiting = true
      idle?.refresh()
    },
    received() {
      isWaiting = false
      if (idle) return
      clearTimeout(firstByte)
      idle = setTimeout(() => {
        if (isWaiting) fire('idle')
      }, limits.idleMs)
    },
    unconnected: () => fire('connect'),
    failure: () => (phase ? { kind: 'timeout', phase } : undefined),
    outliveClient: () => client.removeEventListener('abort', left),
    onOvertime(listener) {
      tellOvertime = listener
    },
    abort,
    end(cause) {
      if (cause) fire(cause)
      else abort()
    },
    clear() {
      client.removeEventListener('abort', left)
      clearTimeout(total)
      clearTimeout(firstByte)
      clearTimeout(idle)
    },
  }
}
