/** A background worker: one round of work after another, never concurrently, with pauses that a stop ends. */
import { withDeadline } from './deadline'

export interface BackgroundWorker {
  /** Starts with the first round. A second call does nothing. */
  start(): void
  /** Ends the pause or waits for the running round, then runs the last round. A stopped worker never starts again. */
  stop(): Promise<void>
}

export interface WorkerLoop extends BackgroundWorker {
  /** There is work: ends a pause within `milliseconds`. No effect during a round. */
  hurry(milliseconds: number): void
  /** Whether the worker is stopping, so that a round can end early. */
  isStopping(): boolean
}

export type WorkerLoopOptions = {
  /** One round. Returns the milliseconds until the next; 0 if there is more work. */
  round(): Promise<number>
  /** Called for every failed round, with the number of failures in a row. Returns the milliseconds until the next; never throws. */
  onFailure(error: unknown, failures: number): number | Promise<number>
  /** Called once by a stop, after the running round and within the time limit. Failures are reported like a round's. */
  lastRound?(): Promise<void>
  /** Milliseconds before the first round. Default 0. */
  firstPauseMs?: number
  stopTimeoutMs?: number
}

/** Creates a worker that must be started. It survives all errors of rounds. */
export function createWorkerLoop(options: WorkerLoopOptions): WorkerLoop {
  const { round, onFailure, lastRound, firstPauseMs = 0, stopTimeoutMs } = options
  let loop: Promise<void> | undefined
  let isStopping = false
  let paused: { end: () => void; timer: Timer; untilMs: number } | undefined

  /** Does not race with a promise that lives as long as the process: each round would leak memory. */
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

/** `milliseconds`, randomly changed by up to half of `share`, so that workers don't run at the same time. */
export function jittered(milliseconds: number, share: number): number {
  return milliseconds * (1 - share / 2 + Math.random() * share)
}
