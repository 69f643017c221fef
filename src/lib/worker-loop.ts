/** A background worker: one round of work after another, never two at once, with pauses that a stop cuts short. */
import { withDeadline } from './deadline'

/** What runs in the background until it is stopped. */
export interface BackgroundWorker {
  /** Begins with the first round. A second call does nothing. */
  start(): void
  /** Ends the pause, or waits for the round under way, and for the last one. For ever: a worker that was stopped does not start again. */
  stop(): Promise<void>
}

/** What {@link createWorkerLoop} makes. */
export interface WorkerLoop extends BackgroundWorker {
  /** There is work: a pause under way ends within `milliseconds`, or sooner if it was to. Without effect during a round. */
  hurry(milliseconds: number): void
  /** Whether a stop has been asked for, for rounds that would say or do more than is wanted then. */
  isStopping(): boolean
}

export type WorkerLoopOptions = {
  /** One round. Returns the milliseconds until the next: 0, at once, where it has left work undone. */
  round(): Promise<number>
  /** Told of every round that failed, with the number of failures in a row. Returns the milliseconds until the next; never throws. */
  onFailure(error: unknown, failures: number): number | Promise<number>
  /** What a stop still has done, once, after the round under way and within its time. Its failure is reported like a round's. */
  lastRound?(): Promise<void>
  /** Milliseconds before the first round. Default 0. */
  firstPauseMs?: number
  /** The longest that a stop waits for its rounds; what takes longer is abandoned. Default: as long as it takes. */
  stopTimeoutMs?: number
}

/** Creates a worker that is not running yet. It outlives whatever a round throws. */
export function createWorkerLoop(options: WorkerLoopOptions): WorkerLoop {
  const { round, onFailure, lastRound, firstPauseMs = 0, stopTimeoutMs } = options
  let loop: Promise<void> | undefined
  let isStopping = false
  let paused: { end: () => void; timer: Timer; untilMs: number } | undefined

  /** No race with a promise that lasts as long as the process: it would remember every round there ever was. */
  async function pause(milliseconds: number): Promise<void> {
    const { promise, resolve: end } = Promise.withResolvers<void>()
    paused = { end, timer: setTimeout(end, milliseconds), untilMs: performance.now() + milliseconds }
    await promise
    clearTimeout(paused.timer)
    paused = undefined
  }

  function hurry(milliseconds: number): void {
    if (!paused || performance.now() + milliseconds >= paused.untilMs) return
    clearTimeout(paused.timer)
    paused.timer = setTimeout(paused.end, milliseconds)
    paused.untilMs = performance.now() + milliseconds
  }

  async function run(): Promise<void> {
    let failures = 0
    for (let pauseMs = firstPauseMs; ; ) {
      if (pauseMs > 0 && !isStopping) await pause(pauseMs)
      if (isStopping) break
      try {
        pauseMs = await round()
        failures = 0
      } catch (error) {
        failures += 1
        pauseMs = await onFailure(error, failures)
      }
    }
    try {
      await lastRound?.()
    } catch (error) {
      await onFailure(error, failures + 1)
    }
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      isStopping = true
      paused?.end()
      loop ??= Promise.resolve()
      await (stopTimeoutMs === undefined ? loop : withDeadline(loop, stopTimeoutMs, () => undefined))
    },
    isStopping: () => isStopping,
    hurry,
  }
}

/** `milliseconds`, longer or shorter by up to half of `share`, so that workers don't all look at once. */
export function jittered(milliseconds: number, share: number): number {
  return milliseconds * (1 - share / 2 + Math.random() * share)
}
