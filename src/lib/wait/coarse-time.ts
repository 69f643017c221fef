/** One timer for all deadlines that are rarely reached, looked at twenty times a second while any is watched. */

/** Something with a time of its own. */
export interface Timed {
  /** By {@link coarseNowMs}; Infinity where nothing is due. */
  dueAtMs: number
  /** Its time has come. Called again at the next look, unless it sets another time or is watched no more. */
  onDue(): void
}

const TICK_MS = 50
/** A look that is later than this tells that the event loop stood still: that time counts against no target. */
const STALL_MS = 20
/** A timer that has not come for so long is started anew: a test's simulated time may have ended with it. */
const LOST_MS = 250

const watched = new Set<Timed>()
let nowMs = 0
let lookedAtMs = 0
let ticking: Timer | undefined

/** Milliseconds as of the latest look. Goes on only while something is watched, and while the event loop turns. */
export function coarseNowMs(): number {
  return nowMs
}

/** When `milliseconds` from now are surely over; up to two looks later. */
export function dueIn(milliseconds: number): number {
  return nowMs + TICK_MS + milliseconds
}

/** Watches it until {@link unwatch}. */
export function watch(timed: Timed): void {
  const atMs = performance.now()
  const isTicking = ticking !== undefined && Math.abs(atMs - lookedAtMs) < LOST_MS
  watched.add(timed)
  if (isTicking) return
  clearInterval(ticking)
  lookedAtMs = atMs
  ticking = setInterval(look, TICK_MS)
  ticking.unref()
}

/** Without effect where it is not watched. */
export function unwatch(timed: Timed): void {
  watched.delete(timed)
}

function look(): void {
  const atMs = performance.now()
  nowMs += Math.min(Math.max(atMs - lookedAtMs, TICK_MS), TICK_MS + STALL_MS)
  lookedAtMs = atMs
  for (const timed of watched) if (timed.dueAtMs <= nowMs) timed.onDue()
  if (watched.size > 0) return
  clearInterval(ticking)
  ticking = undefined
}
