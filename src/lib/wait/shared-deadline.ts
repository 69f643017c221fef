/**
 * One timer for any number of waits of one length, where a timer for each would cost more than what is waited for. As in
 * lib/deadline.ts, time in which this process itself stood still is not counted.
 */

/** One wait under way. Whoever waited sets `isOver`, and is then left alone. */
export abstract class SharedWait {
  isOver = false
  /** Set when it begins. */
  startedAtTick = 0

  /** Called once, with `isOver` set, unless the wait is over before its time is up. */
  abstract onLate(): void
}

interface SharedDeadline {
  /** Starts a wait. */
  begin(wait: SharedWait): void
}

/** The length is counted in this many ticks, however long one of them takes; a wait ends up to one of them early. */
const TICKS = 10
/** A timer that is later than this tells that the event loop stood still: its tick gives everybody another chance. */
const STALL_MS = 20
/** Those over are cleared away once there are so many. */
const CLEAR_COUNT = 1_024

/** Creates a deadline of `timeoutMs`. Its timer runs only while somebody waits. */
export function createSharedDeadline(timeoutMs: number): SharedDeadline {
  const tickMs = timeoutMs / TICKS
  // All waits are equally long, so the oldest is the first to be late: the one at `head`.
  let entries: (SharedWait | undefined)[] = []
  let head = 0
  let tick = 0
  let extensions = TICKS
  let isRunning = false

  function dropWhatIsOver(): void {
    while (head < entries.length && entries[head]?.isOver !== false) {
      entries[head] = undefined
      head += 1
    }
    if (head < CLEAR_COUNT && head < entries.length) return
    entries = entries.slice(head)
    head = 0
  }

  function run(): void {
    isRunning = true
    const dueAtMs = performance.now() + tickMs
    setTimeout(() => {
      const isStalled = performance.now() - dueAtMs > STALL_MS && extensions > 0
      if (isStalled) extensions -= 1
      else {
        extensions = TICKS
        tick += 1
        endLateOnes()
      }
      dropWhatIsOver()
      if (head < entries.length) run()
      else isRunning = false
    }, tickMs)
  }

  function endLateOnes(): void {
    for (let index = head; index < entries.length; index++) {
      const entry = entries[index]
      if (!entry || entry.isOver) continue
      if (tick - entry.startedAtTick < TICKS) return
      entry.isOver = true
      entry.onLate()
    }
  }

  return {
    begin(wait) {
      wait.startedAtTick = tick
      if (head < entries.length) dropWhatIsOver()
      entries.push(wait)
      if (!isRunning) run()
    },
  }
}
