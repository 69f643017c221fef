/** Measures what pieces of code cost in processor time, in turns, and corrects for a machine that is slower at times. */
import type { Stub } from './stubs'

/** One piece of a request's work; `run` does it once, with `stub` in place. */
export type Piece = { name: string; run(): unknown; stub?: Stub }

/** Microseconds of processor time by name, one value per round. */
export type Rounds = Map<string, number[]>

const WARM_UP_CALLS = 3_000
const AT_ONCE = 64
const WINDOW_MS = 120
/** What the piece before left behind ends in this time. */
const SETTLE_MS = 30
/** The same work every time: what it takes now, beside what it took where the budget was made, is how slow this machine is. */
const SAMPLE = JSON.stringify(
  Array.from({ length: 24 }, (_, index) => ({ index, text: 'x'.repeat(index), list: [1, 2, 3] })),
)

/** Processor time of this process until now, in microseconds, garbage collection included. */
export function processMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Reads and writes the same JSON again and again: microseconds for each time. */
export async function calibrate(): Promise<number> {
  return await measurePiece({ name: 'calibration', run: () => JSON.stringify(JSON.parse(SAMPLE)) })
}

/** Lets the compiler see every piece before any of them counts. */
export async function warmUp(pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) await callMany(piece, WARM_UP_CALLS)
}

/** One measurement of each piece. */
export async function measureRound(pieces: readonly Piece[], rounds: Rounds): Promise<void> {
  for (const piece of pieces) addTo(rounds, piece.name, await measurePiece(piece))
}

/** Keeps a value under its name. */
export function addTo(rounds: Rounds, name: string, value: number): void {
  const values = rounds.get(name)
  if (values) values.push(value)
  else rounds.set(name, [value])
}

async function measurePiece(piece: Piece): Promise<number> {
  await Bun.sleep(SETTLE_MS)
  const [startedMs, before] = [performance.now(), processMicroseconds()]
  let calls = 0
  while (performance.now() - startedMs < WINDOW_MS) {
    await callMany(piece, AT_ONCE)
    calls += AT_ONCE
  }
  return (processMicroseconds() - before) / calls
}

/** As many at once as a busy gateway has under way, so that what is sent together under load is sent together here. */
async function callMany({ run, stub }: Piece, calls: number): Promise<void> {
  stub?.begin()
  for (let done = 0; done < calls; done += AT_ONCE) {
    const running: unknown[] = []
    for (let index = 0; index < AT_ONCE; index++) running.push(run())
    await Promise.all(running)
    // Work that never waits would keep everything else of this process waiting, and the next piece would pay for it.
    await new Promise(setImmediate)
  }
  stub?.end()
}
