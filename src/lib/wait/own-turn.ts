/** At most one long step per tick of the event loop, so that other requests are served between two of them. */

/** Larger steps get their own tick; smaller steps take less time than the wait for a tick. */
export const OWN_TURN_BYTES = 256 * 1024

let last: Promise<unknown> = Promise.resolve()

/** Resolves in a tick without another long step, in the order of the calls. */
export function ownTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  last = turn
  return turn
}

/** Waits for a tick for a step with this many bytes; undefined if no wait is needed. */
export function turnFor(bytes: number): Promise<void> | undefined {
  return bytes > OWN_TURN_BYTES ? ownTurn() : undefined
}
