/** One timer for all deadlines that are rarely reached, checked twenty times a second while any is watched. */

export interface Timed {
  /** In the time of {@link coarseNowMs}; Infinity for no deadline. */
  dueAtMs: number
  /** Called at the deadline, and again at each check unless the deadline changes or the watch ends. */
  onDue(): void
}

const TICK_MS = 50
/** If a check is later than this, the event loop was blocked. The time beyond this doesn't count. */
const STALL_MS = 20
/** A timer that is overdue by this much is restarted: it was lost if a test's simulated time ended. */
const LOST_MS = 250

const watched = new Set<Timed>()
let nowMs = 0
let lookedAtMs = 0
let ticking: Timer | undefined

/** Milliseconds at the latest check. Advances only while something is watched and the event loop isn't blocked. */
export function coarseNowMs(): number {
  return nowMs
}

/** A time that is at least `milliseconds` from now, and up to two checks later. */
export function dueIn(milliseconds: number): number {
  return nowMs + TICK_MS + milliseconds
}

/** Watches `timed` until {@link unwatch}. */
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

/** Stops watching an item; no effect if it isn't watched. */
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
