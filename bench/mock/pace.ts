/** One timer for all streams of the mock upstream: each is told when its next piece is due. */

interface Pace {
  /** Calls `onDue` every `intervalMs` until it returns false. */
  every(intervalMs: number, onDue: () => boolean): void
}

const TICK_MS = 1

/** Creates a pace; its timer runs only while something is due. */
export function createPace(): Pace {
  const slots = new Map<number, Entry[]>()
  const startMs = performance.now()
  let tick = 0
  let timer: Timer | undefined
  let waiting = 0

  function nowTick(): number {
    return Math.floor((performance.now() - startMs) / TICK_MS)
  }

  function add(entry: Entry): void {
    const slot = slots.get(entry.dueTick)
    if (slot) slot.push(entry)
    else slots.set(entry.dueTick, [entry])
    waiting += 1
  }

  /** Everything due by now, each as often as its time has come: a late timer loses nothing. */
  function run(): void {
    const end = nowTick()
    for (; tick <= end; tick++) {
      const due = slots.get(tick)
      if (!due) continue
      slots.delete(tick)
      waiting -= due.length
      for (const entry of due) {
        if (!entry.onDue()) continue
        entry.dueTick += entry.interval
        add(entry)
      }
    }
    if (waiting > 0 || timer === undefined) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    every(intervalMs, onDue) {
      const interval = Math.max(1, Math.round(intervalMs / TICK_MS))
      if (timer === undefined) {
        tick = nowTick()
        timer = setInterval(run, TICK_MS)
      }
      add({ dueTick: nowTick() + interval, interval, onDue })
    },
  }
}

type Entry = { dueTick: number; interval: number; onDue: () => boolean }
