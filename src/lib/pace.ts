/** Call and await it after each unit of work. */
export type Pace = () => Promise<void>

/** Maximum time that counts as work of one piece. If a piece takes longer, it was probably waiting. */
const MAX_PIECE_MS = 100

/** Slows background work down: it pauses after each piece, so that pieces take about `share` (0 to 1) of the time. */
export function createPace(share: number): Pace {
  let restedAtMs = performance.now()
  return async () => {
    const pieceMs = Math.min(performance.now() - restedAtMs, MAX_PIECE_MS)
    await Bun.sleep(pieceMs * (1 / share - 1))
    restedAtMs = performance.now()
  }
}
