/** Counts the turns of the event loop, so that a test can tell what was done in one of them. */

/** Counts from now on, until it is stopped. */
export function countTurns(): { now(): number; stop(): void } {
  let turn = 0
  let next = setImmediate(count)
  function count(): void {
    turn++
    next = setImmediate(count)
  }
  return { now: () => turn, stop: () => clearImmediate(next) }
}
