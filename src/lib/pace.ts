/** Work in the background that leaves most of the time to others: a rest after each piece, by how long the piece took. */

/** To be awaited after each piece of work. */
export type Pace = () => Promise<void>

/** One piece may take this long in all; what took longer was probably waiting itself. */
const MAX_PIECE_MS = 100

/** Creates the pace of one job: it rests so long that its pieces take about `share` (0 to 1) of the time. */
export function createPace(share: number): Pace {
  let restedAtMs = performance.now()
  return async () => {
    const pieceMs = Math.min(performance.now() - restedAtMs, MAX_PIECE_MS)
    await Bun.sleep(pieceMs * (1 / share - 1))
    restedAtMs = performance.now()
  }
}
