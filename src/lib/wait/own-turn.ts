/** At most one long step in each turn of the event loop, so that other requests are served between two of them. */

/** A step that takes more bytes has a turn of its own; what takes less is done sooner than it has waited for one. */
export const OWN_TURN_BYTES = 256 * 1024

let last: Promise<unknown> = Promise.resolve()

/** Resolves in a turn in which no other does, in the order in which they were asked for. */
export function ownTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  last = turn
  return turn
}

/** A turn of its own for a step that takes so many bytes; undefined if that is little, and no wait is needed. */
export function turnFor(bytes: number): Promise<void> | undefined {
  return bytes > OWN_TURN_BYTES ? ownTurn() : undefined
}
